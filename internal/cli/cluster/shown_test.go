package cluster

import (
	"context"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"adshard/internal/cli/cmdline"
	"adshard/internal/cli/terminal"
	"adshard/internal/node/httpapi/api"
	"adshard/internal/progress"
)

// TestAnswering: the figures of masters are written as plain numbers, and times only if there were answers.
func TestAnswering(t *testing.T) {
	for want, v := range map[string]*api.Traffic{
		"":              nil,
		", 0 queries/s": {OverMs: 1},
		", 0.05 queries/s, median 0.05 ms, p99 0.05 ms":                                                   {PerSecond: 0.05, P50Micros: 50, P99Micros: 50},
		", 12,346 queries/s, median 4.3 ms, p99 1,600 ms, 0.2 % incomplete, 100 % refused, <0.1 % failed": {PerSecond: 12_345.6, P50Micros: 4_342, P99Micros: 1_600_000, Incomplete: 0.002, Refused: 1, Failed: 1e-6},
	} {
		if got := answering(v); got != want {
			t.Errorf("%+v: %q, want %q", v, got, want)
		}
	}
}

// TestCounts: a lower bound of 0 is not shown.
func TestCounts(t *testing.T) {
	for _, c := range []struct {
		matched, candidates uint64
		counts              api.SearchAnswerCounts
		want                string
	}{
		{46, 31, api.SearchAnswerCountsLowerBound, "at least 46 keywords match, at least 31 take part"},
		{2, 0, api.SearchAnswerCountsLowerBound, "at least 2 keywords match, none takes part"},
		{0, 0, api.SearchAnswerCountsLowerBound, "no keyword takes part"},
		{0, 0, "", "0 keywords match, 0 take part"},
	} {
		a := api.SearchAnswer{Counts: c.counts}
		a.Matched, a.Candidates = c.matched, c.candidates
		if got := counts(&a); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestInterruptedMoveGoesOn: a command that is interrupted while it waits says that the move goes on.
func TestInterruptedMoveGoesOn(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	err := patiently(ctx, progress.New(io.Discard), "the move goes on", func() (bool, error) {
		cancel()
		return false, nil
	})
	if !cmdline.Cancelled(err) || err.Error() != "the move goes on" {
		t.Error(err)
	}
}

// TestSlavesFitTheTerminal: rows fit 80 columns, and what does not fit is printed below. With narrower terminals or longer
// names only bars are lost.
func TestSlavesFitTheTerminal(t *testing.T) {
	list := &api.SlaveList{View: 42, Clock: 9000, Slaves: []api.Slave{
		{Name: "slave-0", Address: "10.0.0.1:7100", Alive: true, Serving: true, State: api.SlaveStateActive, Slices: 5, MovingOut: 1, SharePermille: 400, OverMean: 1.8,
			Groups: 120_000, Keywords: 34_000_000, Bytes: 9 << 30, AppliedClock: 9000},
		{Name: "slave-1", Address: "10.0.0.2:7100", State: api.SlaveStateActive, Slices: 1, SharePermille: 250, OverMean: 0.4, Groups: 300, Keywords: 9000, Bytes: 2 << 20,
			AppliedClock: 7000, Trouble: "the disk is full, and it cannot take what it is to take until somebody makes room on it"},
	}}
	shown := func(columns int) string {
		out := &terminal.Frame{Columns: columns}
		if err := showSlaves(cmdline.Streams{Out: out}, list); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	words := strings.Fields(strings.NewReplacer("│", "", "█", "").Replace(shown(0)))
	if !strings.Contains(shown(160), "│") || shown(300) != shown(0) {
		t.Errorf("bars are gone where there is room:\n%s", shown(160))
	}
	for _, shards := range []string{"", "shard-0"} {
		for i := range list.Slaves {
			list.Slaves[i].Shard = shards
		}
		for _, columns := range []int{80, 100, 120} {
			got := shown(columns)
			for line := range strings.Lines(got) {
				if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > columns {
					t.Errorf("%d characters in %d: %s", n, columns, line)
				}
			}
			for _, w := range words {
				if !strings.Contains(got, w) {
					t.Errorf("%q is gone in %d:\n%s", w, columns, got)
				}
			}
		}
	}
}
