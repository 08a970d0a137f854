package fanout

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"adshard/fault"
	"adshard/internal/node/overload"
	"adshard/search"
)

// crowded is a slave with a gate. It answers a limited number of searches at a time and refuses
// others on arrival.
type crowded struct {
	scripted
	gate    *overload.Gate
	refused atomic.Int64
}

func (c *crowded) Search(ctx context.Context, r *search.Request) (*search.Answer, error) {
	deadline, _ := ctx.Deadline()
	place, err := c.gate.Enter(overload.Request{Left: time.Until(deadline)})
	if err != nil {
		c.refused.Add(1)
		return nil, err
	}
	defer place.Leave()
	if err := place.Wait(ctx); err != nil {
		return nil, err
	}
	return c.scripted.Search(ctx, r)
}

// TestRetriesDoNotFeedAnOverload: two replicas get five times the queries that they can answer. At
// most a tenth of the queries is repeated at the other replica after a refusal, and as many are
// answered as the replicas can answer.
func TestRetriesDoNotFeedAnOverload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const slots, took, rate, seconds = 2, 10 * time.Millisecond, 2000, 10
		var list []Slave
		var replicas []*crowded
		for range 2 {
			c := &crowded{gate: overload.New(overload.Config{Most: 64, Least: slots, Start: slots,
				Delay: func() time.Duration { return time.Second }})}
			c.after, c.answer = took, serves(search.WholeRing(), 1).answer
			replicas, list = append(replicas, c), append(list, Concurrent(c))
		}
		n := new(seen)
		r := load(t.Context(), New(&listedMaps{list: []*Map{replicated(list...)}}, n), rate, seconds*time.Second)
		answered := replicas[0].times() + replicas[1].times()
		refused := int(replicas[0].refused.Load() + replicas[1].refused.Load())
		if peak := int(2 * slots * seconds * time.Second / took); r.complete < peak*9/10 || r.ended < peak*4 {
			t.Errorf("%d of %d queries have an answer; %d can be answered", r.complete, r.ended, peak)
		}
		// Hedges have their own budget.
		if most := r.ended*115/100 + 30; answered+refused > most {
			t.Errorf("%d calls of %d queries", answered+refused, r.ended)
		}
		if !slices.Contains(n.usedUp, "again") || !fault.Is(r.err, fault.Overloaded) {
			t.Errorf("nobody learns that the budget is used up: %d times; %v", len(n.usedUp), fault.KindOf(r.err))
		}
	})
}
