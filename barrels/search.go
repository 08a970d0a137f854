package barrels

import (
	"context"
	"sync"

	"adshard/barrels/block"
	"adshard/barrels/index"
	"adshard/barrels/kv"
	"adshard/barrels/load"
	"adshard/barrels/page"
	"adshard/fault"
	"adshard/search"
)

// maxSlots is the largest number of places (serving.md §5).
const maxSlots = index.MaxOwners - 1

// Search implements search.Searcher.
func (s *store) Search(ctx context.Context, r *search.Request) (*search.Answer, error) {
	if err := checkRequest(r); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, ended(ctx, "barrels: search")
	}
	st := s.Acquire()
	if st == nil {
		return nil, s.errClosed("barrels: search")
	}
	defer st.Release()
	f := finders.Get().(*finder)
	defer f.free()
	if err := f.reset(st, r, s, "barrels: search"); err != nil {
		return nil, err
	}
	if nonce, counted := s.loads.Next(); counted {
		f.tally.Begin(f.served, nonce)
		defer s.loads.Add(&f.tally)
	}
	work, err := search.Scan(ctx, r.Query, r.Profile, &f.reader, f)
	if err != nil {
		return nil, err
	}
	f.decide()
	return s.answer(f, work, f.hits()), nil
}

func checkRequest(r *search.Request) error {
	switch {
	case r == nil || r.Query == nil:
		return fault.Field("barrels: search", "q", "there is no query")
	case r.Slots < 1 || r.Slots > maxSlots:
		return fault.Field("barrels: search", "slots", "%d slots; 1 to %d can be asked for", r.Slots, maxSlots)
	case int(r.Device) >= search.Devices:
		return fault.Field("barrels: search", "device", "there is no device %d", r.Device)
	}
	return nil
}

// answer puts together what a finder found.
func (s *store) answer(f *finder, work search.Work, hits []search.Hit) *search.Answer {
	a := &search.Answer{
		Hits: hits, Matched: f.matched, Candidates: f.candidates, CountsExact: f.request.ExactCounts,
		View: f.served.View, Shard: f.state.Slices.Shard, AppliedClock: f.state.Position.GetClock(), Work: work,
		Shards: 1, Answered: 1,
	}
	a.Work.BlocksBad += uint64(len(f.bad))
	a.Work.BlocksPassed += f.choice.passed
	a.Width = s.width(f)
	return a
}

// width is how much of the ring the finder has served; damage is counted.
func (s *store) width(f *finder) search.Width {
	if len(f.bad) > 0 {
		s.metBad(f.bad, f.rot)
	}
	if s.behind.Load() {
		return search.Width{}
	}
	return f.served.Without(f.bad)
}

// finder is one search: the sink of the scan and what it has found. Finders
// are pooled; a search allocates only for its answer.
type finder struct {
	reader
	request *search.Request
	served  *index.Served

	choice              choice
	top                 search.Top[found]
	matched, candidates uint64
	// seen are the keywords counted that may come again in another form.
	seen map[uint64]struct{}
	// blocked remembers by campaign and by group key whether negatives block.
	blockedCampaigns map[*index.Campaign]bool
	blockedGroups    map[uint64]bool

	block  *block.View  // at hand, whose groups are in groups
	kept   *index.Block // the same, if it is kept in memory
	number uint64       // of the block, counted over all searches
	groups []verdict    // by the block's group index

	contenders []contender // put off

	tally load.Sampler // of a search that is counted
	pages page.Reader

	records kv.Iterator // of groups; opened on first use
	cached  *index.Cache[*index.Group]
	shown   *shownCache
}

// found is what the answer needs of a hit. It is a posting of a view that is
// kept in memory, whose group is only read if it stays: most of what is found is
// found to be beaten later.
type found struct {
	view    *block.View
	copied  *groupIDs // instead of a view that is not kept
	quality uint64
	posting uint16
	kind    search.MatchType
	level   search.Level
}

// groupIDs are the ring key and the ids of a group and its campaign.
type groupIDs struct{ key, id, campaign uint64 }

// group returns those of the hit.
func (h *found) group() groupIDs {
	if h.copied != nil {
		return *h.copied
	}
	return idsOf(h.view, int(h.posting))
}

// idsOf returns those of the group of posting i.
func idsOf(v *block.View, i int) groupIDs {
	g := v.GroupOf(i)
	campaign, _ := v.GroupParents(g)
	return groupIDs{key: v.GroupKey(g), id: v.GroupID(g), campaign: campaign}
}

// finders pools the scratch of searches; it holds no state between them.
var finders = sync.Pool{New: func() any {
	return &finder{
		seen:             make(map[uint64]struct{}),
		blockedCampaigns: make(map[*index.Campaign]bool),
		blockedGroups:    make(map[uint64]bool),
	}
}}

// reset begins a search of a state; the errors are those of views.served.
func (f *finder) reset(st *index.Snapshot, r *search.Request, s *store, op string) (err error) {
	f.reader.reset(st, &s.lists, r.Device)
	if f.served, err = st.Slices.Served(op, r.Shard, r.View); err != nil {
		return err
	}
	f.request = r
	f.cached, f.shown = s.groups, s.shown
	f.top.Reset(r.Slots + 1)
	f.matched, f.candidates = 0, 0
	f.block = nil
	f.choice.reset(f)
	if !r.ExactCounts {
		f.pick = &f.choice
	}
	return nil
}

func (f *finder) free() {
	f.reader.close()
	if f.records != nil {
		f.records.Close()
		f.records = nil
	}
	f.top.Reset(1)
	clear(f.contenders)
	f.contenders = f.contenders[:0]
	clear(f.seen)
	clear(f.blockedCampaigns)
	clear(f.blockedGroups)
	f.block, f.kept = nil, nil
	f.choice.reset(nil)
	f.request, f.served, f.cached, f.shown = nil, nil, nil, nil
	f.tally.Release()
	finders.Put(f)
}
