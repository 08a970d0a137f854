package transfer

import (
	"testing"
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
	"adshard/balance/verify"
)

// TestWhenMovesSwitch: the fewer of the moves in progress are ready, and the less urgent
// they are, the longer they wait for others to share a view.
func TestWhenMovesSwitch(t *testing.T) {
	calm, needed := cluster.Cause{}, cluster.Cause{Away: true}
	for name, c := range map[string]struct {
		ready, copying, switched int
		cause                    cluster.Cause      // of the last move that is ready
		from                     balance.ShardState // of the shard that all slices leave
		lost                     bool               // whether that shard is lost
		want                     time.Duration
	}{
		"all are ready":                      {2, 2, 0, calm, balance.Active, false, switchGap},
		"all are ready but those switched":   {2, 2, 50, calm, balance.Active, false, switchGap},
		"most are ready":                     {4, 5, 0, calm, balance.Active, false, calmWait},
		"one must leave, few are ready":      {1, 5, 0, needed, balance.Active, false, switchWait},
		"one must leave, more are ready":     {2, 8, 0, needed, balance.Active, false, switchGap},
		"an operator waits for one":          {1, 5, 0, cluster.Cause{Commanded: true}, balance.Active, false, switchWait},
		"their shard is drained by now":      {1, 5, 0, calm, balance.Draining, false, switchWait},
		"their shard is lost by now":         {1, 5, 0, calm, balance.Active, true, switchWait},
		"some must leave, switched ones too": {1, 5, 5, needed, balance.Active, false, switchWait},
	} {
		t.Run(name, func(t *testing.T) {
			const now = time.Minute
			known, j := cluster.New(cluster.Config{}.WithDefaults(), &balance.Index{}), cluster.NewJournal()
			m := New(known, j, verify.New(known, j))
			model, err := balance.NewModel([]balance.Shard{{Name: "a", State: c.from}, {Name: "b"}})
			if err != nil {
				t.Fatal(err)
			}
			m.Model, m.switched = model, now
			if !c.lost {
				m.Slave("a").Heard = now
			}
			for id := range uint64(c.copying + c.switched) {
				v := &activeMove{id: id, a: 1, b: 2, phase: balance.Copying}
				if id >= uint64(c.copying) {
					v.phase = balance.Switched
				}
				m.all[id] = v
			}
			for id := range uint64(c.ready) {
				m.ready = append(m.ready, m.all[id])
			}
			m.ready[c.ready-1].cause = c.cause
			if got := m.due(now) - now; got != c.want {
				t.Errorf("%v after the last switch, want %v", got, c.want)
			}
		})
	}
}
