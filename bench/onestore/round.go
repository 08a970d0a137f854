package onestore

import (
	"context"
	"runtime"
	"time"

	"adshard/bench/measure"
	"adshard/fault"
	"adshard/search"
	"adshard/search/words"
)

// Plan says which store is queried, and how.
type Plan struct {
	Store    search.Searcher
	Queries  []string
	Lexicon  *words.Lexicon // nil: no synonyms
	Profile  search.Profile
	Variants search.Level
	Device   search.Device
	Slots    int
	Reserve  uint64 // micros
	Exact    bool   // exact counts
}

// Round is the cost of going through the queries once.
type Round struct {
	// Expand and Search are the times of the two steps, Total is their sum.
	Expand, Search, Total *measure.Latencies
	Work                  search.Work
	// Took is the duration of the whole round, including measuring. CPU is the
	// processor time of this process in it, which other processes disturb less.
	Took, CPU time.Duration
	// Asked counts the queries that were answered, Refused those that were not
	// valid (such as too long ones). Hits and WithHits count what was found,
	// Partial the answers that did not cover the ring.
	Asked, Refused, Hits, WithHits, Partial int
	// Allocations and Bytes count what expanding and searching allocated.
	Allocations, Bytes uint64
	// Each holds the cost of each search, in the order of the queries.
	Each []One
}

// Round goes through the queries once.
func (p *Plan) Round(ctx context.Context) (*Round, error) {
	r := &Round{Expand: measure.NewLatencies(), Search: measure.NewLatencies(), Total: measure.NewLatencies()}
	r.Each = make([]One, 0, len(p.Queries))
	request := search.Request{
		Profile: p.Profile.Capped(p.Variants), Device: p.Device, Slots: p.Slots, Reserve: p.Reserve,
		ExactCounts: p.Exact, RequestID: "adbench",
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start, cpu := time.Now(), measure.CPUTime()
	for _, text := range p.Queries {
		if err := p.ask(ctx, text, &request, r); err != nil {
			return nil, err
		}
	}
	r.Took, r.CPU = time.Since(start), measure.CPUTime()-cpu
	runtime.ReadMemStats(&after)
	r.Allocations = after.Mallocs - before.Mallocs
	r.Bytes = after.TotalAlloc - before.TotalAlloc
	return r, nil
}

func (p *Plan) ask(ctx context.Context, text string, request *search.Request, r *Round) error {
	start := time.Now()
	q, err := search.Expand(text, p.Variants, p.Lexicon)
	if fault.Is(err, fault.Invalid) {
		r.Refused++
		return nil
	}
	if err != nil {
		return err
	}
	request.Query = q
	expanded := time.Now()
	a, err := p.Store.Search(ctx, request)
	end := time.Now()
	if err != nil {
		return err
	}
	r.Expand.Add(expanded.Sub(start))
	r.Search.Add(end.Sub(expanded))
	r.Total.Add(end.Sub(start))
	r.Each = append(r.Each, One{end.Sub(expanded), a.Work.Examined, a.Matched})
	r.count(a)
	return nil
}

func (r *Round) count(a *search.Answer) {
	r.Asked++
	r.Work.Add(a.Work)
	r.Hits += len(a.Hits)
	if len(a.Hits) > 0 {
		r.WithHits++
	}
	if a.Width != search.WholeRing() {
		r.Partial++
	}
}
