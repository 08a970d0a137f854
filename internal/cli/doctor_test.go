package cli

import (
	"encoding/json"
	"errors"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"adshard/fault"
	"adshard/internal/node/access"
	"adshard/internal/node/admin"
	"adshard/internal/node/admin/admintest"
	"adshard/internal/node/doctor"
	"adshard/internal/node/httpapi/api"
	"adshard/internal/node/metrics"
)

// doctored runs the doctor against a balancer of admintest and returns its report, parsed from JSON.
func doctored(t *testing.T, c admin.Control, args ...string) (status int, r doctor.Report, errOut string) {
	t.Helper()
	args = append([]string{"doctor", "--json", "--over", "0", "--addr", serveControl(t, c)}, args...)
	status, out, errOut := run(t, "adshard", args...)
	if err := json.Unmarshal([]byte(out), &r); err != nil && status != exitUsage {
		t.Fatalf("%v in %q, %s", err, out, errOut)
	}
	return status, r, errOut
}

// well returns a balancer of admintest for which the doctor finds nothing wrong.
func well() *admintest.Control {
	c := admintest.NewControl()
	s := c.Status
	s.PublishedView, s.Scrub.Condemned, s.Last.Refused = s.View, nil, ""
	for i := range c.Slaves.Slaves {
		v := &c.Slaves.Slaves[i]
		v.Alive, v.Serving, v.Trouble, v.AppliedClock = true, true, "", c.Slaves.Clock
	}
	return c
}

// TestDoctor checks exit statuses, and the output for people and programs.
func TestDoctor(t *testing.T) {
	status, r, errOut := doctored(t, well())
	if status != exitDone || !r.Healthy || len(r.Findings) != 0 || r.Findings == nil || len(r.Asked) != 1 || errOut != "" {
		t.Errorf("healthy: %d %+v %q", status, r, errOut)
	}
	status, out, _ := run(t, "adshard", "doctor", "--over", "1ms", "--addr", serveControl(t, well()))
	if status != exitDone || !strings.HasPrefix(out, "Nothing is wrong.\nAsked: http://127.0.0.1:") {
		t.Errorf("healthy: %d %q", status, out)
	}

	sick := well()
	sick.Status.Paused = true
	sick.Slaves.Slaves[2].Alive = false
	status, r, errOut = doctored(t, sick)
	if status != exitFailed || r.Healthy || len(r.Findings) != 2 || r.Findings[0].Node != "slave-2" || r.Findings[1].Alert != "AdshardBalancingPaused" || errOut != "" {
		t.Errorf("sick: %d %+v %q", status, r, errOut)
	}
	status, out, errOut = run(t, "adshard", "doctor", "--over", "0", "--addr", serveControl(t, sick))
	if status != exitFailed || errOut != "" || !strings.HasPrefix(out, "2 things are wrong, the most harmful first:\n\n1. slave-2 is away: ") ||
		!strings.Contains(out, "\n   do: `adshard balance resume`\n   harm: balance; AdshardBalancingPaused, docs/runbook.md#adshardbalancingpaused\n") {
		t.Errorf("sick: %d %q %q", status, out, errOut)
	}

	standby := well()
	standby.Err = fault.Newf(fault.Unavailable, "balancer", "this balancer stands by; ask the one that leads, at http://10.0.0.9:7001")
	status, r, _ = doctored(t, standby)
	if status != exitFailed || len(r.Findings) != 1 || r.Findings[0].Alert != "AdshardNoBalancerLeads" || !strings.Contains(r.Findings[0].What, "10.0.0.9:7001") {
		t.Errorf("standby: %d %+v", status, r)
	}
}

// TestDoctorAsksAllPorts: the doctor tries a search, and reads the metrics and readiness of other processes.
func TestDoctorAsksAllPorts(t *testing.T) {
	answer := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/search" || r.Header.Get("Authorization") != "" {
			http.Error(w, "unexpected", http.StatusTeapot)
			return
		}
		_ = json.NewEncoder(w).Encode(api.SearchAnswer{Coverage: api.Coverage{Missing: []string{"slave-1"}, Reasons: map[string]api.MissingReason{"slave-1": "late"}}})
	}
	queries := httptest.NewServer(http.HandlerFunc(answer))
	defer queries.Close()
	registry := metrics.NewRegistry()
	metrics.Gauge(registry, "adshard_in_repair", "1: it is.", func() float64 { return 1 })
	slave := httptest.NewServer(admin.New(admin.Config{Registry: registry, Ready: func() []string { return []string{"a", "b"} }, Log: slog.New(slog.DiscardHandler)}))
	defer slave.Close()

	token := file(t, "token", "secret-of-alice")
	status, r, errOut := doctored(t, well(), "--http", queries.URL, "--admins", slave.URL, "--token-file", token)
	var alerts []string
	for _, f := range r.Findings {
		alerts = append(alerts, f.Alert)
	}
	want := []string{"AdshardIncompleteAnswers", "AdshardNotFilled", "AdshardSlaveInRepair"}
	if status != exitFailed || !slices.Equal(alerts, want) || len(r.Asked) != 3 || !strings.HasSuffix(r.Findings[1].What, "is not ready: a; b") {
		t.Errorf("%d %+v %q, want %q", status, r, errOut, want)
	}
	slave.Close()
	status, r, _ = doctored(t, well(), "--admins", slave.URL)
	if status != exitFailed || len(r.Findings) != 1 || r.Findings[0].Alert != "AdshardTargetDown" {
		t.Errorf("a port that is closed: %d %+v", status, r)
	}
	status, _, errOut = doctored(t, well(), "--http", slave.URL+"x:y")
	if status != exitUsage {
		t.Errorf("an address that is none: %d %q", status, errOut)
	}
}

// TestDoctorAsksAllAtOnce uses ports that answer only when all of them have been asked.
func TestDoctorAsksAllAtOnce(t *testing.T) {
	const ports = 3
	var asked sync.WaitGroup
	asked.Add(ports)
	args := []string{}
	for range ports {
		var first sync.Once
		next := admin.New(admin.Config{Registry: metrics.NewRegistry(), Ready: func() []string { return nil }, Log: slog.New(slog.DiscardHandler)})
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			first.Do(asked.Done)
			asked.Wait()
			next.ServeHTTP(w, r)
		}))
		defer s.Close()
		args = append(args, "--admins", s.URL)
	}
	if status, r, errOut := doctored(t, well(), args...); status != exitDone || !r.Healthy || len(r.Asked) != 1+ports {
		t.Errorf("%d %+v %q", status, r, errOut)
	}
}

// TestDoctorOfWhatHangs: a balancer that accepts connections but never answers is not reported as down.
func TestDoctorOfWhatHangs(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer s.Close()
	status, out, errOut := run(t, "adshard", "doctor", "--over", "0", "--addr", s.URL)
	if status != exitFailed || errOut != "" || !strings.HasPrefix(out, "One thing is wrong:\n\n1. the balancer at "+s.URL+" has not answered within 2 s: its process hangs") ||
		!strings.Contains(out, "`kill -KILL PID`") {
		t.Errorf("%d %q %q", status, out, errOut)
	}
}

// TestDoctorOfAHostThatIsCutOff: a host that takes no connection, as behind a firewall, is the network's, not a process that hangs.
func TestDoctorOfAHostThatIsCutOff(t *testing.T) {
	address := fullBacklog(t)
	status, out, errOut := run(t, "adshard", "doctor", "--over", "0", "--addr", address)
	if status != exitFailed || errOut != "" || !strings.HasPrefix(out, "One thing is wrong:\n\n1. the balancer at http://"+address+" cannot be asked: ") ||
		!strings.Contains(out, "see to the network first") || strings.Contains(out, "kill") {
		t.Errorf("%d %q %q", status, out, errOut)
	}
}

// fullBacklog returns the address of a port that takes no more connections.
func fullBacklog(t *testing.T) string {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	if err := errors.Join(unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}), unix.Listen(fd, 0)); err != nil {
		t.Fatal(err)
	}
	at, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(at.(*unix.SockaddrInet4).Port))
	for range 8 {
		c, err := net.DialTimeout("tcp", address, 300*time.Millisecond)
		if err != nil {
			return address
		}
		t.Cleanup(func() { _ = c.Close() })
	}
	t.Fatal("connections are taken without end")
	return ""
}

// TestDoctorOfWrongAddresses: of a port that is there, and with which TLS fails, the doctor does not say that its process ended.
func TestDoctorOfWrongAddresses(t *testing.T) {
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	for name, address := range map[string]string{
		"another CA":    secure.URL,
		"without https": strings.Replace(secure.URL, "https", "http", 1),
		"without http":  strings.Replace(plain.URL, "http", "https", 1),
	} {
		_, r, errOut := doctored(t, well(), "--admins", address)
		if len(r.Findings) != 1 || r.Findings[0].Alert != "AdshardTargetDown" || !strings.HasPrefix(r.Findings[0].Do, "do not start it again") {
			t.Errorf("%s: %+v %q", name, r, errOut)
		}
		status, out, errOut := run(t, "adshard", "doctor", "--over", "0", "--addr", address)
		if status != exitFailed || !strings.Contains(out, "the balancer at "+address+" cannot be asked: ") || strings.Contains(out, "--config FILE") {
			t.Errorf("%s: %d %q %q", name, status, out, errOut)
		}
	}
}

// TestDoctorIsRefused: a caller without permission gets only that error.
func TestDoctorIsRefused(t *testing.T) {
	gated := admin.New(admin.Config{Registry: metrics.NewRegistry(), Ready: func() []string { return nil }, Control: well(),
		Gate: &access.Gate{Guard: access.Guard{Table: access.NewTable()}}, Log: slog.New(slog.DiscardHandler)})
	s := httptest.NewServer(gated)
	defer s.Close()
	status, out, errOut := run(t, "adshard", "doctor", "--over", "0", "--addr", s.URL)
	if status != exitUsage || out != "" || !strings.Contains(errOut, "--token-file") {
		t.Errorf("%d %q %q", status, out, errOut)
	}
	for _, args := range [][]string{{"--over", "-1s"}, {"--over", "2h"}, {"--addr", "ftp://x"}, {"x"}} {
		if status, _, errOut := run(t, "adshard", append([]string{"doctor"}, args...)...); status != exitUsage {
			t.Errorf("%v: %d %s", args, status, errOut)
		}
	}
}

// TestDoctorFormIsDocumented: the tables of docs/operations/watch.md list each field of the report, and each harm.
func TestDoctorFormIsDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/operations/watch.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## What is wrong\n")
	section, _, _ = strings.Cut(section, "\n#")
	form, err := json.Marshal(doctor.Report{Findings: []doctor.Finding{{Node: "x", Follows: []doctor.Finding{{}}}}})
	if err != nil {
		t.Fatal(err)
	}
	names := make(map[string]bool)
	for _, m := range regexp.MustCompile(`"(\w+)":`).FindAllStringSubmatch(string(form), -1) {
		names[m[1]] = true
	}
	if len(names) != 10 {
		t.Errorf("the report has %d fields", len(names))
	}
	for name := range names {
		if !strings.Contains(section, "`"+name+"`") {
			t.Errorf("the field %s is not documented", name)
		}
	}
	for _, h := range doctor.Harms() {
		if !strings.Contains(section, "`"+string(h)+"`") {
			t.Errorf("the harm %s is not documented", h)
		}
	}
}
