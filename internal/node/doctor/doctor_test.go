package doctor

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"adshard/internal/node/httpapi/api"
)

// scene is a cluster as its ports answer at two points in time.
type scene struct {
	before, now Look
	probe       Probe
}

// healthy returns a cluster of three slaves without any problem: slave-0 and slave-1 are replicas of one
// shard, and slave-2 is the only replica of another one.
func healthy() *scene {
	look := func(at int64) Look {
		seen := func() *int64 { ms := int64(300); return &ms }
		slave := func(name, shard string) api.Slave {
			return api.Slave{Name: name, Shard: shard, State: api.SlaveStateActive, Alive: true, Serving: true, Slices: 4, AppliedClock: 90, SeenMs: seen()}
		}
		return Look{
			At:     time.Unix(at, 0),
			Status: &api.BalanceStatus{View: 7, PublishedView: 7, Clock: 90, Measured: true, MaxOverMean: 1.1, LowerBound: 1},
			Slaves: &api.SlaveList{View: 7, Clock: 90, Slaves: []api.Slave{slave("slave-0", "shard-0"), slave("slave-1", "shard-0"), slave("slave-2", "shard-1")}},
			Ports:  []Port{{Address: "http://10.0.0.5:7001", At: time.Unix(at, 0)}, {Address: "http://10.0.0.7:8081", At: time.Unix(at, 0)}},
		}
	}
	return &scene{before: look(1000), now: look(1002),
		probe: Probe{Address: "http://10.0.0.7:8080", Answer: &api.SearchAnswer{Coverage: api.Coverage{Shards: 2, Answered: 2, Complete: true}}}}
}

// looks returns the looks that a command changes: both, or the one that its argument names.
func (s *scene) looks(d *datadriven.TestData) []*Look {
	switch {
	case d.HasArg("before"):
		return []*Look{&s.before}
	case d.HasArg("now"):
		return []*Look{&s.now}
	}
	return []*Look{&s.before, &s.now}
}

// fails has a port not answer, for the reason that is the command's input: it is closed, unless an argument says otherwise.
func (p *Port) fails(d *datadriven.TestData) {
	p.Failed, p.Silence = d.Input, silence(d)
}

func silence(d *datadriven.TestData) Silence {
	for arg, s := range map[string]Silence{"hangs": Hung, "strange": Strange, "nameless": Nameless, "cut-off": CutOff} {
		if d.HasArg(arg) {
			return s
		}
	}
	return Closed
}

// change executes one command. Its JSON is merged into the answers of a healthy cluster.
func (s *scene) change(t *testing.T, d *datadriven.TestData) {
	over := func(into any) {
		if err := json.Unmarshal([]byte(d.Input), into); err != nil {
			d.Fatalf(t, "%v", err)
		}
	}
	if d.Cmd == "search" {
		over(s.probe.Answer)
		return
	}
	if d.Cmd == "search-fails" {
		s.probe.Answer, s.probe.Failed, s.probe.Silence = nil, d.Input, silence(d)
		return
	}
	for _, look := range s.looks(d) {
		switch d.Cmd {
		case "status":
			over(look.Status)
		case "slaves":
			over(look.Slaves)
		case "slave":
			var i int
			d.ScanArgs(t, "number", &i)
			over(&look.Slaves.Slaves[i])
		case "metrics":
			port := 1
			if d.HasArg("balancer") {
				port = 0
			}
			look.Ports[port].Metrics = append(look.Ports[port].Metrics, ReadMetrics(d.Input)...)
		case "no-balancer":
			look.Status, look.Slaves, look.Unled, look.Hung = nil, nil, d.Input, d.HasArg("hangs")
			look.Ports[0].fails(d)
		case "no-port":
			look.Ports[1].fails(d)
		case "not-ready":
			look.Ports[0].NotReady, look.Ports[0].Failed = d.Input, ""
		default:
			d.Fatalf(t, "unknown command")
		}
	}
}

// TestFindings: the findings for the clusters in testdata. Each cluster begins healthy and ends with
// `examine`. With -rewrite the current findings are written to the files.
func TestFindings(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		s := healthy()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd != "examine" {
				s.change(t, d)
				return ""
			}
			if d.HasArg("once") {
				s.before = s.now
			}
			list := Examine(&s.before, &s.now, &s.probe)
			s = healthy()
			if len(list) == 0 {
				return "nothing\n"
			}
			var b strings.Builder
			for _, f := range list {
				fmt.Fprintf(&b, "%s %s %s: %s\n  do: %s\n", f.Harm, f.Alert, f.Node, f.What, f.Do)
				for _, g := range f.Follows {
					fmt.Fprintf(&b, "  explains: %s %s %s: %s\n", g.Harm, g.Alert, g.Node, g.What)
				}
			}
			return b.String()
		})
	})
}

var (
	alertName = regexp.MustCompile(`(?m)^ *- alert: (\w+)$`)
	foundName = regexp.MustCompile(`(?m)^(?:  explains: )?\w+ (Adshard\w+) `)
)

// TestFindingsAreAlerts: each finding has the name of an alert with a section in the runbook, and each
// alert is found in some scenario.
func TestFindingsAreAlerts(t *testing.T) {
	const root = "../../../"
	read := func(path string) string {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	alerts := make(map[string]bool)
	for _, m := range alertName.FindAllStringSubmatch(read(root+"deploy/alerts/adshard.rules.yml"), -1) {
		alerts[m[1]] = false
	}
	runbook := read(root + "docs/runbook.md")
	for _, m := range foundName.FindAllStringSubmatch(read("testdata/findings.txt"), -1) {
		if _, ok := alerts[m[1]]; !ok || !strings.Contains(runbook, "\n### "+m[1]+"\n") {
			t.Errorf("%s is not an alert, or has no section of the runbook", m[1])
		}
		alerts[m[1]] = true
	}
	for name, found := range alerts {
		if !found {
			t.Errorf("no scenario finds %s", name)
		}
	}
}

// TestCausesHaveNoCircle: no alert explains itself by way of others, so each finding has a root cause.
func TestCausesHaveNoCircle(t *testing.T) {
	explains := make(map[string][]string)
	for _, of := range ties() {
		for _, cause := range of.causes {
			for _, effect := range of.effects {
				if cause != effect { // sameDisk and noPlan decide between two findings of one alert
					explains[cause] = append(explains[cause], effect)
				}
			}
		}
	}
	var from func(alert string, path []string)
	from = func(alert string, path []string) {
		if slices.Contains(path, alert) {
			t.Fatalf("%v, %s", path, alert)
		}
		for _, effect := range explains[alert] {
			from(effect, append(slices.Clip(path), alert))
		}
	}
	for alert := range explains {
		from(alert, nil)
	}
}

func TestReadMetrics(t *testing.T) {
	page := "# HELP adshard_a A.\n# TYPE adshard_a counter\nadshard_a{node=\"m\\\"0\",le=\"+Inf\"} 1.5e+03\nadshard_b 2\ngo_goroutines 7\nadshard_c{x=\"\"} NaNo\nadshard_d\n"
	got := ReadMetrics(page)
	if len(got) != 2 || got[0].Name != "adshard_a" || got[0].Labels["node"] != `m"0` || got[0].Labels["le"] != "+Inf" || got[0].Value != 1500 ||
		got[1].Name != "adshard_b" || got[1].Value != 2 || len(got[1].Labels) != 0 {
		t.Errorf("%+v", got)
	}
}

// TestHarmsAreInOrder: each harm of a finding is in the list of harms. A missing one would be sorted first.
func TestHarmsAreInOrder(t *testing.T) {
	var f findings
	for _, h := range []Harm{Balance, Changes, Answers, Reserve, Data} {
		f.add(h, "AdshardX", "", "", "")
	}
	for i, g := range sorted(f.list) {
		if g.Harm != Harms()[i] || g.Runbook != "docs/runbook.md#adshardx" {
			t.Errorf("%d: %+v", i, g)
		}
	}
}
