package bench

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

// TestRefusedBeforeAnythingRuns: each command ends with an error that says what
// to do, before the directory of --work is even made, for a report, page or
// profile that cannot be written, an unknown workload or setup, and a log with
// commas instead of tabs.
func TestRefusedBeforeAnythingRuns(t *testing.T) {
	dir := t.TempDir()
	work := filepath.Join(dir, "work")
	commas := filepath.Join(dir, "log.csv")
	if err := os.WriteFile(commas, []byte("shoes,2026-01-31T12:00:00Z\nboots,2026-01-31T12:00:01Z\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	nowhere := filepath.Join(dir, "none", "r")
	const missing = "there is no directory"
	for _, c := range []struct {
		command *cobra.Command
		args    []string
		want    string
	}{
		{CorpusCommand(), []string{"--out", nowhere}, missing},
		{CorpusCommand(), []string{"--out", filepath.Join(dir, "a"), "--queries", filepath.Join(dir, "a")}, "--out writes that file too"},
		{SearchCommand(), []string{"--work", work, "--html", nowhere}, missing},
		{SearchCommand(), []string{"--work", work, "--points", dir}, "it is a directory"},
		{SearchCommand(), []string{"--work", work, "--setups", "nonsense"}, `there is no setup "nonsense"`},
		{StoreCommand(), []string{"--barrels", dir, "--queries", commas, "--cpuprofile", commas}, "a file that this command reads"},
		{StoreCommand(), []string{"--barrels", dir, "--queries", commas, "--json", nowhere}, missing},
		{StoreCommand(), []string{"--barrels", dir, "--queries", commas}, "put a tab there"},
		{LoadCommand(), []string{"--queries", commas, "--json", commas}, "a file that this command reads"},
		{LoadCommand(), []string{"--workload", "nonsense"}, `there is no workload "nonsense"`},
		{LoadCommand(), []string{"--queries", commas}, "put a tab there"},
		{FreshCommand(), []string{"--db", "sqlite:" + commas, "--json", commas}, "a file that this command reads"},
		{FreshnessCommand(), []string{"--work", work, "--json", nowhere}, missing},
		{FreshnessCommand(), []string{"--work", work, "--rates", "1,0"}, "--rates [1 0]"},
		{FreshnessCommand(), []string{"--work", work, "--asked", "201"}, "--asked 201"},
		{FreshnessCommand(), []string{"--work", work, "--creators=two"}, "one or each"},
		{FirstFillCommand(), []string{"--work", work, "--json", nowhere}, missing},
		{CopyCommand(), []string{"--work", work, "--json", nowhere}, missing},
		{CopyCommand(), []string{"--work", work, "--rounds", "0"}, "--rounds 0"},
		{GridCommand(), []string{"--work", work, "--queries", commas, "--json", nowhere}, missing},
		{GridCommand(), []string{"--work", work, "--queries", commas, "--grids", "2x0"}, `"2x0" is not a grid`},
		{GridCommand(), []string{"--work", work}, "--queries is missing"},
		{SizingCommand(), nil, "--grid, --searches, --curve and --out are needed"},
		{SizingCommand(), []string{"--grid", commas, "--curve", commas, "--searches", commas, "--out", commas}, "a file that this command reads"},
		{SizingCommand(), []string{"--grid", commas, "--curve", commas, "--searches", commas, "--out", filepath.Join(dir, "a")}, "is not a report of adbench"},
		{ReplicasCommand(), []string{"--barrels", dir, "--queries", commas, "--html", nowhere}, missing},
		{ReplicasCommand(), []string{"--barrels", dir, "--queries", commas, "--replicas", "1"}, "1 replicas: 2 to 16"},
		{ReplicasCommand(), []string{"--barrels", dir, "--queries", commas, "--parts", "2"}, "a part of 2"},
		{BalanceCommand(), []string{"--work", work, "--simulate", "--html", nowhere}, missing},
		{BalanceCommand(), []string{"--work", work, "--simulate", "--workload", "nonsense"}, `there is no workload "nonsense"`},
		{BalanceCommand(), []string{"--work", work, "--study", "--workload", "real,zipf:x"}, `"x" is not a number`},
		{BalanceCommand(), []string{"--work", work, "--simulate", "--queries", commas}, "put a tab there"},
		{BalanceCommand(), []string{"--work", work, "--adshard", filepath.Join(dir, "none"), "--slaves", "1"}, "is not a program"},
	} {
		var out bytes.Buffer
		c.command.SetOut(&out)
		c.command.SetErr(&out)
		c.command.SilenceErrors, c.command.SilenceUsage = true, true
		c.command.SetArgs(c.args)
		if err := c.command.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %v: %v, want %q", c.command.Name(), c.args, err, c.want)
		}
	}
	if all, err := os.ReadDir(dir); err != nil || len(all) != 1 {
		t.Errorf("something ran: %v, %v", all, err)
	}
}

// TestBalanceKeepsTheTimesOfALog: each query of a recorded log comes in the
// second in which it was asked or, with a rate, at stretched times.
func TestBalanceKeepsTheTimesOfALog(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log.tsv")
	var text strings.Builder
	begin := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	for i := range 100 { // 90 in the first half of a second, then silence
		at := begin.Add(time.Duration(i) * 5 * time.Millisecond)
		if i >= 90 {
			at = begin.Add(6*time.Second + time.Duration(i)*time.Millisecond)
		}
		text.WriteString("shoes\t" + at.Format(time.RFC3339Nano) + "\n")
	}
	if err := os.WriteFile(log, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	args := []string{"--simulate", "--slaves", "2", "--interval", "1s", "--strategies", "original", "--queries", log}
	for _, c := range []struct {
		more    []string
		seconds float64
		first   float64 // answers in the first second
	}{
		{nil, 6.1, 90},
		{[]string{"--duration", "3s"}, 3, 90},
		{[]string{"--rate", "4"}, 25, 50},
	} {
		got, _, err := balanced(t, append(args, c.more...)...)
		if err != nil {
			t.Fatal(err)
		}
		if got.Seconds < c.seconds-0.01 || got.Seconds > c.seconds+0.1 {
			t.Errorf("%v: a run of %v s", c.more, got.Seconds)
		}
		a := got.Runs[0].Lines("answers a second")
		if len(a) != 1 || a[0].Y[0] < c.first-1 || a[0].Y[0] > c.first+1 {
			t.Errorf("%v: answers a second %+v", c.more, a)
		}
	}
}
