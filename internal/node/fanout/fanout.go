package fanout

import (
	"context"
	"slices"
	"time"

	"adshard/internal/node/fanout/choice"
	"adshard/internal/node/tracing"
	"adshard/internal/node/wire"
	"adshard/search"
)

// Observer is told what happens to shards, for metrics and logs. It is called by many goroutines. A nil
// Observer is never called.
type Observer interface {
	// Called reports a call to a replica of a shard: its duration, and its error, or nil if it was
	// answered.
	Called(shard, replica string, took time.Duration, err error)
	// Hedged reports that a second replica of a shard was asked because the first took long, and
	// HedgeWon that the second one's answer came first.
	Hedged(shard string)
	HedgeWon(shard string)
	// AskedElsewhere reports that another replica was asked in place of one that did not serve.
	// BudgetUsedUp reports that no other replica was asked ("again"), or no second one ("hedge"),
	// because there were too many such calls.
	AskedElsewhere(shard string)
	BudgetUsedUp(shard, budget string)
	// Merged reports how long merging took, and Retried that all shards were asked again.
	Merged(took time.Duration)
	Retried()
	// Missing reports a shard that is missing from one answer, wholly or in part.
	Missing(name string, why search.Reason)
	// LeftOut reports that a replica of a shard is no longer asked, or, if `why` is "", that it is asked
	// again.
	LeftOut(shard, replica string, why Absence)
}

// Fanout asks all shards of the newest map. It is a search.Searcher and a search.Explainer. Make it with
// New; Run handles replicas that hang.
type Fanout struct {
	maps     Maps
	observer Observer
	start    time.Time
	topics   choice.Topics
}

// New returns a fan-out over the maps. `observer` may be nil.
func New(maps Maps, observer Observer) *Fanout {
	return &Fanout{maps: maps, observer: observer, start: time.Now()}
}

// now returns the time in the form that Presence uses.
func (f *Fanout) now() time.Duration { return time.Since(f.start) }

// longest bounds a search whose context has no deadline.
const longest = 5 * time.Second

// maxMargin bounds the time that is reserved for merging and answering.
const maxMargin = 5 * time.Millisecond

// margin is the part of the remaining time that is kept from the shards, so that answers at their
// deadline can still be used.
func margin(left time.Duration) time.Duration { return max(0, min(left/10, maxMargin)) }

// Search implements search.Searcher. A strict request that cannot be answered completely, since a shard
// is left out, is answered at once, with nothing but Missing. Errors: fault.Unavailable if there is no
// map yet; fault.Overloaded if all shards refused; fault.Behind if a shard has not reached r.Least in
// time.
func (f *Fanout) Search(ctx context.Context, r *search.Request) (*search.Answer, error) {
	if m := f.maps.Current(); r.Strict && m != nil {
		if out := m.silent(); len(out) > 0 {
			f.reportMissing(out)
			return &search.Answer{View: m.View, Shards: len(m.Shards), Missing: out}, nil
		}
	}
	p := plan[search.Answer]{request: r, ask: askSearch, judge: judge, timed: true, hedged: true}
	if r.Least.Clock > 0 {
		p.judge, p.timed = judgeSince(r.Least), false // it may have waited for changes
	}
	if r.Page != nil {
		p.judge = judgePage(r.Page, p.judge)
	}
	if r.Scorer != (search.ScorerID{}) {
		p.judge = judgeScored(func(a *search.Answer) bool { return a.Scorer == r.Scorer }, p.judge)
	}
	if m := f.maps.Current(); m != nil && m.replicated() {
		p.topic = f.topics.Of(r.Query)
	}
	g, m, err := p.gather(ctx, f)
	if err == nil && r.Least.Clock > 0 {
		err = dropBehind(g, r.Least)
	}
	if err != nil {
		return nil, err
	}
	began := time.Now()
	sum := merge(g, r)
	sum.Shards, sum.View = len(m.Shards), m.View
	sum.CountsExact = sum.CountsExact && sum.Width == search.WholeRing()
	took := time.Since(began)
	if f.observer != nil {
		f.observer.Merged(took)
	}
	if r.Timing != nil {
		tracing.Of(ctx).Stage("merge", began, took)
	}
	f.reportMissing(sum.Missing)
	return sum, nil
}

// askSearch asks a slave to search.
func askSearch(ctx context.Context, s Slave, r *wire.Shared, done Done) (Pending, func()) {
	if s, ok := s.(concurrent); ok {
		return nil, func() { done(s.Search(ctx, r.Request())) }
	}
	return s.Ask(ctx, r, done), nil
}

// merge merges the answers and names what is missing. It drops a shard's answer if the pieces of one of
// its hits among the best are damaged. Only the best hits are checked, and nothing that a slave sends
// gets into an answer unchecked.
func merge(g *replies[search.Answer], r *search.Request) *search.Answer {
	if r.Page != nil {
		drop(g, func(a *search.Answer) bool { return len(a.Filtered) == len(r.Page.Filters) }, errNoPage)
	}
	drop(g, func(a *search.Answer) bool { return a.Scorer == r.Scorer }, errNotScored)
	for {
		missing := missingShards(g, func(a *search.Answer) (search.Width, bool) { return a.Width, a.Work.BlocksBad > 0 })
		sum := mergeAnswers(g.answers, r)
		sum.Missing = missing
		if !dropUnreadable(g, sum.Hits) {
			return sum
		}
	}
}

func mergeAnswers(answers []*search.Answer, r *search.Request) *search.Answer {
	if r.Page != nil {
		return search.MergePage(answers, r)
	}
	return search.Merge(answers, r.Slots+1)
}

// dropUnreadable drops the answers that have a hit among the best that cannot be shown, and reports
// whether there were any.
func dropUnreadable(g *replies[search.Answer], best []search.Hit) (dropped bool) {
	for i := range best {
		if readable(&best[i]) {
			continue
		}
		for s, a := range g.answers {
			if a != nil && slices.ContainsFunc(a.Hits, func(h search.Hit) bool { return h.Keyword == best[i].Keyword && !readable(&h) }) {
				g.answers[s], g.errs[s] = nil, errUnreadable
				dropped = true
			}
		}
	}
	return dropped
}

func readable(h *search.Hit) bool {
	_, ok := h.Display.Values()
	return ok
}

// reportMissing reports the missing shards to the observer.
func (f *Fanout) reportMissing(missing []search.Missing) {
	if f.observer == nil {
		return
	}
	for _, m := range missing {
		f.observer.Missing(m.Shard, m.Reason)
	}
}

// Explain implements search.Explainer.
func (f *Fanout) Explain(ctx context.Context, r *search.Request, limit int) (*search.Explanation, error) {
	scored := func(e *search.Explanation) bool { return e.Scorer == r.Scorer }
	p := plan[search.Explanation]{request: r, judge: judgeScored(scored, judgeExplanation)}
	p.ask = func(ctx context.Context, s Slave, r *wire.Shared, done func(*search.Explanation, error)) (Pending, func()) {
		return nil, func() { done(s.Explain(ctx, r.Request(), limit)) }
	}
	g, m, err := p.gather(ctx, f)
	if err != nil {
		return nil, err
	}
	drop(g, scored, errNotScored)
	missing := missingShards(g, func(e *search.Explanation) (search.Width, bool) { return e.Width, false })
	sum := mergeExplanations(g.answers, limit)
	sum.Missing, sum.View = missing, m.View
	f.reportMissing(missing)
	return sum, nil
}
