package bench

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"adshard/backend/pgtest"
	"adshard/bench/measure"
)

// TestCounters: the command measures each variant on each store, with a verdict for each of
// the paper's figures and each phase. Variants that must conflict do so, those that cannot
// do not, and nothing is left behind.
func TestCounters(t *testing.T) {
	server, err := pgtest.New("fsync=off")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Remove()
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	report := filepath.Join(dir, "counters.json")
	c := CountersCommand()
	var out bytes.Buffer
	c.SetArgs([]string{"--rate", "600", "--questions", "2", "--duration", "150ms", "--phase", "150ms", "--course", "50,300", "--numbers", "1,8",
		"--least", "5ms", "--most", "6ms", "--window", "40ms", "--compact", "40ms", "--postgres", server.URL("postgres"), "--work", dir, "--json", report})
	c.SetOut(&out)
	if err := c.Execute(); err != nil {
		t.Fatal(err)
	}
	r, err := measure.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	for _, store := range []string{"SQLite", "PostgreSQL"} {
		for _, where := range []string{"figure 6, " + store, "phase 1, 50 votes/s, " + store, "phase 2, 300 votes/s, " + store} {
			if !strings.Contains(out.String(), where+":") {
				t.Errorf("nothing about %s in %s", where, out.String())
			}
		}
		for name, within := range map[string][2]float64{
			"single row, no retry: failed":               {20, 100},
			"static, retry: failed":                      {0, 0},
			"single row, no retry: conflicts":            {20, 100},
			"dynamic, phase 2 (300/s): parts at the end": {0, 100},
			"static, 1 shards, no retry: failed":         {20, 100},
			"adaptive, phase 2 (300/s): failed":          {0, 0},
		} {
			if f, ok := r.Find(store + ", " + name); !ok || f.Value < within[0] || f.Value > within[1] {
				t.Errorf("%s, %s: %v", store, name, f.Value)
			}
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, "adbench-counters-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestCountersRefuses: invalid flags are refused before anything runs.
func TestCountersRefuses(t *testing.T) {
	for _, args := range [][]string{
		{"--rate", "0"}, {"--duration", "1ms"}, {"--phase", "1ms"}, {"--users", "0"}, {"--shards", "0"}, {"--least", "2s"}, {"--numbers", "3,0"},
		{"--course", "5,0"}, {"--window", "0"}, {"--json", "/nowhere/x"}, {"more"},
	} {
		c := CountersCommand()
		c.SetArgs(args)
		c.SetOut(new(bytes.Buffer))
		c.SetErr(new(bytes.Buffer))
		if err := c.Execute(); err == nil {
			t.Errorf("%v is taken", args)
		}
	}
}
