package onestore

import (
	"math"
	"testing"
	"time"

	"adshard/bench/measure"
)

func TestFit(t *testing.T) {
	round := func(slow time.Duration) *Round {
		r := &Round{}
		for i := range uint64(50) {
			examined, matched := i*i, i%7
			r.Each = append(r.Each, One{8*time.Microsecond + time.Duration(40*examined+100*matched) + slow, examined, matched})
		}
		return r
	}
	var report measure.Report
	Fit(&report, []*Round{round(time.Second), round(0)})
	for name, want := range map[string]float64{
		"cost of a search by itself": 8, "cost of a posting examined": 40, "cost of a match besides": 100,
	} {
		if f, ok := report.Find(name); !ok || math.Abs(f.Value-want) > 0.01 {
			t.Errorf("%s is %v, want %v", name, f.Value, want)
		}
	}
	alike := &Round{Each: []One{{1, 5, 5}, {1, 5, 5}, {1, 5, 5}}}
	report = measure.Report{}
	if Fit(&report, []*Round{alike}); len(report.Figures) != 0 {
		t.Errorf("queries that are alike gave %v", report.Figures)
	}
}
