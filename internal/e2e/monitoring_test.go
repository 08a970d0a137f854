package e2e

import (
	"encoding/json"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"adshard/internal/clustertest"
	"adshard/internal/node/up"
)

const (
	dashboardsDir = "../../deploy/dashboards"
	alertsDir     = "../../deploy/alerts"
)

// emptyWhenHealthy maps queries of dashboards and series of alerts that have no values in a healthy cluster to the
// reasons. The tests of promtool make each such alert fire.
var emptyWhenHealthy = map[string]string{
	`sum by (shard, reason) (rate(adshard_missing_total[$__rate_interval]))`:        "no shard is missing",
	`sum by (shard, kind) (rate(adshard_shard_failures_total[$__rate_interval]))`:   "no call fails",
	`sum(rate(adshard_hedges_total[$__rate_interval]))`:                             "there are no replicas",
	`sum(rate(adshard_hedges_won_total[$__rate_interval]))`:                         "there are no replicas",
	`sum(rate(adshard_asked_elsewhere_total[$__rate_interval]))`:                    "there are no replicas",
	`max by (shard, replica, why) (adshard_replica_left_out)`:                       "none was left out",
	`adshard_answers_total{operation="search",outcome="incomplete"}`:                "no answer is incomplete",
	`adshard_answers_total{operation="search",status=~"5..",outcome!="overloaded"}`: "no request fails",
	`adshard_missing_total{reason=~"silent|damaged|foreign|excess|failed|version"}`: "no shard is missing",
	`adshard_budget_used_up_total{budget="again"}`:                                  "there are no replicas",
	`adshard_replica_left_out`:                                                      "none was left out",
	`adshard_calls_refused_total`:                                                   "without certificates or tokens everybody may call",
	`adshard_balancer_setting_differs`:                                              "there is one balancer",
	`adshard_certificate_left_seconds`:                                              "there is no TLS",
	`adshard_exposed_files`:                                                         "all files are readable only by their owner",
	`adshard_event_batches_refused_total{kind=~"unavailable|locked|no_space"}`:      "there is no collector",
	`adshard_events_total{outcome=~"future|forged"}`:                                "there is no collector",
	`adshard_budget_checks_failed_total`:                                            "there is no collector",
	`adshard_learning_rounds_total{outcome="failed"}`:                               "there is no collector",
}

// TestMonitoring runs a real Prometheus on a cluster with a few queries. Each query of the dashboards and each series
// of the alerts has values, except for those of emptyWhenHealthy. Each alert is silent even with a "for" of 0, on a
// busy machine after a while.
func TestMonitoring(t *testing.T) {
	c := startCluster(t, importEditor(t, []byte(fates), 0), 3, false, "default", func(cfg *up.Config) { cfg.RocksDBStatistics = true })
	p := startPrometheus(t, strings.TrimPrefix(c.admin, "http://"), nil)
	want := make(map[string]bool)
	for _, query := range dashboardQueries(t) {
		want[query] = true
	}
	rules := alertRules(t)
	for _, rule := range rules {
		for _, series := range seriesOf(rule.Expr) {
			want[series] = true
		}
	}
	for query := range emptyWhenHealthy {
		if !want[query] {
			t.Errorf("nothing asks for %s any more", query)
		}
		delete(want, query)
	}
	deadline := time.Now().Add(clustertest.Patience)
	// Two searches a second are too few to judge load by, but a cluster may have as few at any time.
	for ; len(want) > 0 && time.Now().Before(deadline); time.Sleep(time.Second / 2) {
		c.search(t, url.Values{"q": {"red lamp"}})
		for query := range want {
			if p.count(t, query) > 0 {
				delete(want, query)
			}
		}
	}
	for query := range want {
		t.Errorf("a healthy cluster has nothing for %s", query)
	}
	for _, rule := range rules {
		for ; p.count(t, rule.Expr) > 0; time.Sleep(time.Second / 4) {
			if time.Now().After(deadline) {
				t.Fatalf("%s would fire on a healthy cluster", rule.Alert)
			}
		}
	}
}

// minutes matches a time of an alert in minutes.
var minutes = regexp.MustCompile(`(for: |\[)(\d+)m\b`)

// ofTheMachine matches alerts that rightly fire if the machine is so busy with other things that scrapes or searches
// are late, or the balancer's lease ends.
const ofTheMachine = "AdshardTargetDown|AdshardNoBalancerLeads|AdshardSlowAnswers|AdshardOverloaded|AdshardIncompleteAnswers|AdshardFailedAnswers|AdshardShardMissing"

// TestMonitoringUnderLoad runs a cluster under many queries, first of one keyword and then of several, with all times
// of alerts cut to a thirtieth. No alert fires, except for those of ofTheMachine. The test takes half a minute. With
// MONITORING_LONG in the environment it takes four, and then those must not fire either.
func TestMonitoringUnderLoad(t *testing.T) {
	lasts, alerts := 30*time.Second, `ALERTS{alertname!~"`+ofTheMachine+`"}`
	if os.Getenv("MONITORING_LONG") != "" {
		lasts, alerts = 4*time.Minute, "ALERTS"
	}
	firing := alerts + ` and ALERTS{alertstate="firing"}`
	c := startCluster(t, importEditor(t, []byte(fates), 0), 3, false, "default")
	p := startPrometheus(t, strings.TrimPrefix(c.admin, "http://"), func(rules string) string {
		return minutes.ReplaceAllStringFunc(rules, func(of string) string {
			part := minutes.FindStringSubmatch(of)
			n, _ := strconv.Atoi(part[2]) // digits
			return part[1] + strconv.Itoa(2*n) + "s"
		})
	})
	// Until the first scrape, which Prometheus begins after some seconds, no balancer seems to lead.
	for end := time.Now().Add(clustertest.Patience); p.count(t, "adshard_balancer_leads == 1") == 0 || p.count(t, alerts) > 0; {
		if time.Now().After(end) {
			t.Fatalf("alerts on a healthy cluster at rest: %s", p.ask(t, alerts))
		}
		time.Sleep(100 * time.Millisecond)
	}
	queries := []string{"red lamp", "usb cable", "lamp", "blue lamp", "red", "garden chair"}
	known := false
	for began, n := time.Now(), 0; time.Since(began) < lasts || !known && time.Since(began) < clustertest.Patience; n++ {
		kinds := len(queries)
		if time.Since(began) < lasts/2 {
			kinds = 1
		}
		for range 10 {
			c.search(t, url.Values{"q": {queries[n%kinds]}})
		}
		time.Sleep(50 * time.Millisecond)
		if n%10 == 0 {
			known = known || p.count(t, "adshard_balancer_load_known == 1") > 0
			if p.count(t, firing) > 0 {
				t.Fatalf("alerts fire on a healthy cluster after %v: %s", time.Since(began), p.ask(t, firing))
			}
		}
	}
	if !known {
		t.Error("the load was never known: there were too few queries")
	}
}

// TestAlerts: promtool accepts the rules and their tests. Each alert has a test in which it fires, and a section of
// the runbook with its cause, what to look at and what to do.
func TestAlerts(t *testing.T) {
	for _, args := range [][]string{
		{"check", "config", "prometheus.yml"}, {"check", "rules", "--lint-fatal", "adshard.rules.yml"}, {"test", "rules", "adshard.rules_test.yml"},
	} {
		cmd := exec.CommandContext(t.Context(), "promtool", args...)
		cmd.Dir = alertsDir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	fired := firedAlerts(t)
	sections := runbook(t)
	for _, rule := range alertRules(t) {
		if !fired[rule.Alert] {
			t.Errorf("no test makes %s fire", rule.Alert)
		}
		anchor, ok := strings.CutPrefix(rule.Annotations["runbook_url"], "docs/runbook.md#")
		text := sections[anchor]
		delete(sections, anchor)
		if !ok || !strings.Contains(text, "**Cause**: ") || !strings.Contains(text, "**See**: ") || !strings.Contains(text, "**Do**: ") {
			t.Errorf("%s: docs/runbook.md has no section #%s with Cause, See and Do", rule.Alert, anchor)
		}
	}
	for anchor := range sections {
		t.Errorf("docs/runbook.md has a section #%s, which is of no alert", anchor)
	}
}

type alertRule struct {
	Alert, Expr string
	Annotations map[string]string
}

// alertRules returns the rules of the alerts.
func alertRules(t *testing.T) (list []alertRule) {
	t.Helper()
	var file struct{ Groups []struct{ Rules []alertRule } }
	readYAML(t, filepath.Join(alertsDir, "adshard.rules.yml"), &file)
	for _, g := range file.Groups {
		list = append(list, g.Rules...)
	}
	if len(list) == 0 {
		t.Fatal("there are no alerts")
	}
	return list
}

// firedAlerts returns the alerts that a test of promtool expects to fire.
func firedAlerts(t *testing.T) map[string]bool {
	t.Helper()
	var file struct {
		Tests []struct {
			Cases []struct {
				Alert string `yaml:"alertname"`
				Fires []any  `yaml:"exp_alerts"`
			} `yaml:"alert_rule_test"`
		}
	}
	readYAML(t, filepath.Join(alertsDir, "adshard.rules_test.yml"), &file)
	fired := make(map[string]bool)
	for _, test := range file.Tests {
		for _, c := range test.Cases {
			fired[c.Alert] = fired[c.Alert] || len(c.Fires) > 0
		}
	}
	return fired
}

func readYAML(t *testing.T, name string, into any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(readFile(t, name)), into); err != nil {
		t.Fatal(name, err)
	}
}

// runbook returns the runbook's sections on alerts by their anchors.
func runbook(t *testing.T) map[string]string {
	t.Helper()
	sections := make(map[string]string)
	for _, part := range strings.Split(readFile(t, "../../docs/runbook.md"), "\n### ")[1:] {
		title, body, _ := strings.Cut(part, "\n")
		sections[strings.ToLower(title)] = body
	}
	return sections
}

// dashboardQueries returns the queries of all panels.
func dashboardQueries(t *testing.T) (list []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dashboardsDir, "*.json"))
	if err != nil || len(files) < 3 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		var d struct {
			Panels []struct{ Targets []struct{ Expr string } }
		}
		if err := json.Unmarshal([]byte(readFile(t, name)), &d); err != nil {
			t.Fatal(name, err)
		}
		for _, p := range d.Panels {
			for _, target := range p.Targets {
				list = append(list, target.Expr)
			}
		}
	}
	return list
}

var selector = regexp.MustCompile(`\b(?:adshard_\w+|up)\b(?:\{[^}]*\})?`)

// seriesOf returns the series that an expression reads.
func seriesOf(expr string) []string { return selector.FindAllString(expr, -1) }
