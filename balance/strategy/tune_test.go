package strategy_test

import (
	"fmt"
	"testing"

	"adshard/balance"
	"adshard/balance/strategy"
)

func TestTune(t *testing.T) {
	for _, o := range []map[string]string{
		{}, {"gain": "0.002"}, {"gain": "0.001"}, {"gain": "0.002", "grain": "0.02"}, {"aim": "0.1", "gain": "0.002"}, {"aim": "0.1", "tolerance": "0.13", "gain": "0.001"},
	} {
		for _, exponent := range []float64{0.4, 0.6, 0.8, 1.0} {
			l := world(t, 1, 10, 1, 20000, exponent, 0.35)
			l.noise = 0.5
			s, _ := strategy.Named("weighted-move-fast", o)
			for range l.interval {
				l.second()
			}
			least, ls := balance.LeastMove(l.input(), 0.15)
			line := fmt.Sprintf("%v zipf %.1f least %d (%.5f):", o, exponent, least, ls)
			for range 12 {
				l.iterate(s)
				line += fmt.Sprintf(" %.3f", balance.LoadEvenness(l.truth()).Ratio())
			}
			t.Logf("%s moves %d moved %.5f slices %d: x %.2f", line, l.started, l.moved, len(l.m.Slices()), l.moved/ls)
		}
	}
}
