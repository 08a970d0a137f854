package query

import (
	"context"

	"adshard/auction"
	"adshard/barrels/index"
	"adshard/barrels/kv"
	"adshard/barrels/load"
	"adshard/fault"
	"adshard/search"
)

// MaxSlots is the largest number of places (serving.md §5).
const MaxSlots = index.MaxOwners - 1

// Engine answers requests, each from one snapshot. It is safe for concurrent use.
type Engine struct {
	// The caches. What they return is exact for the snapshot in use.
	Lists   *index.ListCache
	Groups  *index.Cache[*index.Group]
	Display *DisplayCache
	// Hosts has the sets of hosts to which the ads of groups lead.
	Hosts *index.HostSets
	// Load counts what searches cost.
	Load *load.Counter
	// Scorers returns the scorer with an id, or nil if this program does not have it. If Scorers is
	// nil, there are no scorers.
	Scorers Scorers

	asked askedDevices
}

// Scorers returns the scorer with an id, or nil if there is none.
type Scorers func(search.ScorerID) auction.Scorer

// Damage describes data that a request could not read.
type Damage struct {
	// Bad are the parts of the ring whose data could not be read, in the order found.
	Bad []index.Interval
	// Memory means that some of them were damaged only in the cache, and were dropped there.
	Memory bool
}

// Check returns fault.Invalid for a request that no store can answer.
func Check(r *search.Request) error {
	switch {
	case r == nil || r.Query == nil:
		return fault.Field("barrels: search", "q", "there is no query")
	case r.Slots < 1 || r.Slots > MaxSlots:
		return fault.Field("barrels: search", "slots", "%d slots; 1 to %d can be asked for", r.Slots, MaxSlots)
	case int(r.Device) >= search.Devices:
		return fault.Field("barrels: search", "device", "there is no device %d", r.Device)
	case r.Page != nil:
		return checkPage(r.Page)
	}
	return nil
}

// Search answers a request for which Check returns nil. Errors: those of the scope's view
// (fault.Conflict, fault.Unavailable, fault.Stale), fault.Deadline and fault.Cancelled from ctx.
// Damaged data are no error: the answer's Width leaves them out, and Damage says where they are.
func (c *Engine) Search(ctx context.Context, st *index.Snapshot, r *search.Request) (*search.Answer, Damage, error) {
	if ctx.Err() != nil {
		return nil, Damage{}, kv.Ended(ctx, "barrels: search")
	}
	e, err := c.begin(st, r, "barrels: search")
	if err != nil {
		return nil, Damage{}, err
	}
	defer e.end()
	c.asked.add(r.Device)
	if !r.Hedge {
		if nonce, counted := c.Load.Next(); counted {
			e.sampler.Begin(e.served, nonce)
			defer c.Load.Add(&e.sampler)
		}
	}
	began := r.Timing.Begin()
	e.scan.reset(&e.ranking, !r.ExactCounts)
	began = r.Timing.End("terms", began)
	err = e.scan.run(ctx)
	began = r.Timing.End("scan", began)
	if err == nil {
		err = e.errUnresolved("barrels: search")
	}
	if err != nil {
		return nil, Damage{}, err
	}
	a := e.answer()
	r.Timing.End("hits", began)
	return a, e.damage(), nil
}

// answer composes the answer of a finished scan.
func (e *execution) answer() *search.Answer {
	a := &search.Answer{
		Hits: e.hits(), Matched: e.matched, Candidates: e.candidates, CountsExact: e.request.ExactCounts,
		View: e.served.View, Shard: e.state.Slices.Shard, AppliedClock: e.state.Position.GetClock(), Work: e.scan.work,
		Shards: 1, Answered: 1, Scorer: e.request.Scorer,
	}
	if e.request.Page != nil {
		a.Filtered = e.page.counts()
	}
	a.Work.BlocksBad += uint64(len(e.bad))
	a.Work.BlocksSkipped += e.scan.skipped
	a.Width = e.served.Without(e.bad)
	return a
}
