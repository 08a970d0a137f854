package processtest

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"syscall"
	"testing"

	"adshard/internal/cli"
	"adshard/internal/node/doctor"
	"adshard/internal/node/up"
)

// doctored runs the doctor on a cluster.
func doctored(t *testing.T, url, admin string, more ...string) (int, doctor.Report) {
	t.Helper()
	var out, errOut bytes.Buffer
	args := append([]string{"doctor", "--json", "--addr", admin, "--http", url}, more...)
	status := cli.Main(t.Context(), "adshard", args, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &errOut})
	var r doctor.Report
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatalf("doctor: %d %s %s", status, out.String(), errOut.String())
	}
	return status, r
}

// TestDoctor: the doctor finds nothing wrong in a healthy cluster. When a slave is killed, the
// doctor names that first.
func TestDoctor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 40)
	cfg := up.DefaultConfig()
	cfg.DB, cfg.Data, cfg.HTTP, cfg.Admin, cfg.Processes = w.url(), dir(t, "data"), anyPort, anyPort, true
	cfg.Memory, cfg.Slaves, cfg.NoRestart = 384<<20, 2, true
	up := start(t, "up", cfg)
	url, admin := up.line("ready "), up.line("admin ")
	_, master, _ := strings.Cut(up.line("master "), " admin ")
	w.compare(url)
	status, r := 0, doctor.Report{}
	eventually(t, "nothing is wrong with a whole cluster", func() bool {
		status, r = doctored(t, url, admin, "--admins", master)
		return status == 0 && r.Healthy
	})
	if len(r.Asked) != 3 {
		t.Errorf("asked %q", r.Asked)
	}

	if err := syscall.Kill(pid(t, up.line("slave 1 ")), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	// At first, answers lack the slave; when the balancer has not heard from it for a while, it
	// counts as away.
	status, r = doctored(t, url, admin, "--over", "0")
	if status != 1 || r.Healthy || len(r.Findings) == 0 || r.Findings[0].Node != "slave-1" || r.Findings[0].Alert != "AdshardIncompleteAnswers" {
		t.Errorf("at once: %d %+v", status, r)
	}
	eventually(t, "the slave that was killed is named first", func() bool {
		status, r = doctored(t, url, admin, "--over", "0")
		return status == 1 && len(r.Findings) > 0 && r.Findings[0].Node == "slave-1" && r.Findings[0].Alert == "AdshardTargetDown" && r.Findings[0].Harm == doctor.Answers
	})
	if !slices.ContainsFunc(r.Findings[0].Follows, func(f doctor.Finding) bool { return f.Alert == "AdshardIncompleteAnswers" && f.Node == "slave-1" }) {
		t.Errorf("what it does to answers is not said: %+v", r)
	}
}
