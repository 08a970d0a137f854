package console

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"adshard/internal/node/httpapi/api"
)

// minutesAgo returns a history with points that began so many minutes ago.
func minutesAgo(list ...int64) *api.BalanceHistory {
	h := &api.BalanceHistory{IntervalMs: every.Milliseconds()}
	for _, n := range list {
		h.Points = append(h.Points, api.HistoryPoint{AgeMs: n * time.Minute.Milliseconds(), MaxOverMean: 1.5, LowerBound: 1.2,
			Shadows: map[string]float64{"random": 1.9}, Traffic: &api.Traffic{PerSecond: 100 * float64(n), Refused: 0.005}})
	}
	return h
}

// TestChartsHaveAxesAndGaps: a line breaks where nothing is known, a single value is drawn as a dot, and both axes are labelled.
func TestChartsHaveAxesAndGaps(t *testing.T) {
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	h := minutesAgo(1438, 22, 12, 7, 2)
	h.Points[4].Traffic.P50Micros, h.Points[4].Traffic.P99Micros = 1500, 2500
	all := trafficCharts(h, now)
	rate, took, lost := all[0], all[1], all[2]
	if l := rate.Lines[0]; !slices.Equal(l.Dots, []string{"0,28.1 0,28.1", "283,98.9 283,98.9"}) || !slices.Equal(l.Parts, []string{"285,99.4 286,99.7 287,99.9"}) || l.Last != "200" {
		t.Errorf("drawn as %+v", l)
	}
	if want := []gap{{1, 282}, {284, 1}}; !slices.Equal(rate.Gaps, want) {
		t.Errorf("gaps %v", rate.Gaps)
	}
	if want := []string{"200,000", "100,000", "0"}; !slices.Equal(rate.Ticks, want) || !slices.Equal(rate.Times, []string{"12:05", "18:03", "00:02", "06:01", "12:00"}) {
		t.Errorf("axes %q, %q", rate.Ticks, rate.Times)
	}
	if took.Lines[0].Dots[0] != "287,50.0 287,50.0" || took.Ticks[0] != "3" || took.Lines[1].Last != "2.5" || len(took.Gaps) != 0 || took.Unit != "ms" {
		t.Errorf("%+v", took)
	}
	if len(lost.Lines) != 3 || lost.Lines[1].Last != "0.5" || lost.Ticks[0] != "1" || !strings.Contains(lost.Text, "refused 0.5, at most 0.5") {
		t.Errorf("%+v", lost)
	}
	b := balanceChart(h, now, true)
	if len(b.Lines) != 3 || b.Lines[1].Name != "best possible" || !b.Lines[1].Dashed || b.Lines[2].Name != "random" || !slices.Equal(b.Ticks, []string{"2.00", "1.50", "1.00"}) {
		t.Errorf("%+v", b)
	}
	if b := balanceChart(h, now, false); len(b.Lines) != 2 || b.Ticks[0] != "1.50" {
		t.Errorf("%+v", b)
	}
}

// TestChartsOfNothing: what is not known at all is not drawn.
func TestChartsOfNothing(t *testing.T) {
	h := minutesAgo(2, 7)
	for i := range h.Points {
		h.Points[i].Traffic = nil
	}
	for _, c := range trafficCharts(h, time.Now()) {
		if c != nil {
			t.Errorf("%+v", c)
		}
	}
	if balanceChart(h, time.Now(), false) == nil || balanceChart(minutesAgo(), time.Now(), false) != nil || balanceChart(minutesAgo(3000), time.Now(), false) != nil {
		t.Error("what is known is not what is drawn")
	}
}

// TestScale: an axis ends at a round number, no more than twice as far as its highest value.
func TestScale(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(1e-6, 1e12).Draw(t, "x")
		if top := scale(x); top < x*(1-1e-6) || top > 2*x*(1+1e-6) || len(strings.Trim(strings.NewReplacer(",", "", ".", "").Replace(digits(top, 3)), "0")) > 1 {
			t.Fatalf("the axis of %v ends at %v", x, top)
		}
	})
}
