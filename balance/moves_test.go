package balance

import (
	"testing"
	"time"
)

// TestWhenMovesSwitch: the fewer of the moves under way are ready, and the less anybody waits
// for them, the longer they wait for others that share their view.
func TestWhenMovesSwitch(t *testing.T) {
	for name, c := range map[string]struct {
		ready, under int // moves, of those under way
		cause        cause
		want         time.Duration
	}{
		"all are ready":                {2, 2, cause{}, switchGap},
		"one in four is ready":         {1, 4, cause{}, switchGap},
		"few are ready":                {1, 5, cause{}, calmWait},
		"one of few must leave":        {1, 5, cause{away: true}, switchWait},
		"an operator waits for it":     {1, 5, cause{commanded: true}, switchWait},
		"most of many must still move": {9, 100, cause{}, calmWait},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMoves()
			m.switched = time.Minute
			for id := range uint64(c.under) {
				m.all[id] = &activeMove{id: id}
			}
			for id := range uint64(c.ready) {
				m.ready = append(m.ready, m.all[id])
			}
			m.ready[len(m.ready)-1].cause = c.cause
			if got := m.due() - m.switched; got != c.want {
				t.Errorf("%v after the last switch, want %v", got, c.want)
			}
		})
	}
}
