package query

import (
	"context"
	"runtime"

	"adshard/barrels/kv"
	"adshard/search"
)

// scan finds the classes of postings that match a query and passes them to its sink. It visits
// blocks of the query's own terms before blocks of synonyms and corrections, so that the best hits come early and
// blocks that cannot win are skipped.
//
// A keyword of a campaign with several languages is anchored once in each, so it may reach the sink
// several times, at different levels. The sink counts it only once, by its id, and uses the best
// level. Skipping blocks stays exact: the block in which a keyword agrees best bounds the keyword's
// score at that level, and so at each worse level too. If that bound is below the threshold, none
// of its levels is among the best, since the threshold never falls. Totals of matches are then
// lower bounds; a search that counts exactly skips nothing.
type scan struct {
	*scope
	matcher
	postings
	pruner
	sink sink
	// deadBlocks means that blocks without any live posting are visited, too.
	deadBlocks bool
	best       search.Level // cap of the terms whose blocks are being visited
	work       search.Work
	// known are the indexes of the query's terms that keywords may have. signature is the signature
	// of these terms.
	known     []int32
	capped    []int32 // the known terms whose cap is best
	signature search.Signature
	// pending are the classes that passed the signature test and are not matched yet.
	pending []classRef
	visited int // number of blocks, and waves of them, since the search began
	// tabled means that the known terms are in the matcher's table, which only some searches need.
	tabled bool
}

// sink receives what a scan finds.
type sink interface {
	// enter begins a block anchored at a term.
	enter(b blockRef, term uint64)
	// match receives matching classes, each with its level.
	match(list []classRef)
}

// maxPending is the largest number of classes that are collected before they are matched. More
// would not make memory faster, and the threshold rises only when they are matched.
const maxPending = 32

// reset begins a scan of the scope's request. With prune, blocks and classes that cannot win are
// left out.
func (s *scan) reset(to sink, prune bool) {
	q := s.scope.request.Query
	s.sink = to
	s.pruner.reset(!prune)
	s.matcher.Reset(q, s.scope.request.Profile)
	s.work, s.signature, s.tabled, s.deadBlocks, s.visited = search.Work{}, 0, false, false, 0
	s.known = s.find(q.Terms, s.known[:0])
	for _, i := range s.known {
		s.signature |= search.SignatureOf(q.Terms[i].Term)
	}
}

// release drops references to a request.
func (s *scan) release() {
	s.sink = nil
	clear(s.pending)
	s.pending = s.pending[:0]
	s.matcher.release()
	s.postings.close()
	s.pruner.reset(true)
}

// turnBlocks is the number of blocks that a search visits before it yields. Yielding costs more
// than a short search, which never visits that many.
const turnBlocks = 256

// interrupted returns fault.Deadline or fault.Cancelled if ctx has ended. It is called between
// blocks and sometimes yields to other searches: Go's scheduler preempts only every 10 ms, so all
// others would wait for the slowest search.
func (s *scan) interrupted(ctx context.Context) error {
	if kv.Over(ctx) {
		return kv.Ended(ctx, "barrels: search")
	}
	if s.visited++; s.visited%turnBlocks == 0 {
		runtime.Gosched()
		yieldThread()
	}
	return nil
}

// run scans. It returns fault.Deadline or fault.Cancelled early if ctx ends; work then has what was
// done so far.
func (s *scan) run(ctx context.Context) error {
	for _, best := range [...]search.Level{search.Identical, search.Synonym, search.Misspelt} {
		if best > s.Reach {
			continue
		}
		s.best, s.capped = best, s.capped[:0]
		for _, i := range s.known {
			if s.terms(i).Cap() == best {
				s.capped = append(s.capped, i)
			}
		}
		if err := s.visitTerms(ctx); err != nil {
			return err
		}
		s.matchPending()
	}
	return nil
}

// terms returns the query's term with an index.
func (s *scan) terms(i int32) *search.QueryTerm { return &s.postings.terms[i] }

// matchPending matches the pending classes and passes those that match to the sink. Each step
// handles all of them, so that their memory accesses overlap.
func (s *scan) matchPending() {
	all := s.pending
	if len(all) == 0 {
		return
	}
	s.pending = all[:0]
	defer func() { // even if a damaged block causes a panic
		clear(all)
		s.matcher.view = nil // another block may appear at the same address
	}()
	list := all
	if !s.off {
		list = s.ranking.prune(all, s.best)
	}
	for i := range list {
		if c := &list[i]; c.cached != nil {
			_, words := c.words()
			s.scope.touched += uint64(words.Len())
		}
	}
	n := 0
	for i := range list {
		if l := s.level(&list[i]); l != search.NoLevel {
			if n < i {
				list[n] = list[i]
			}
			list[n].level = l
			n++
		}
	}
	if n > 0 {
		s.sink.match(list[:n])
	}
}

// level returns the level at which a class matches.
func (s *scan) level(c *classRef) search.Level {
	var room [search.MaxKeywordWords]uint64
	if l, decided := s.ByNorms(c.norms(room[:0])); decided {
		return l
	}
	if s.matcher.view != c.view {
		s.table()
		s.use(c.view)
	}
	return s.class(c.words())
}

// table puts the known terms into the matcher's table.
func (s *scan) table() {
	if s.tabled {
		return
	}
	s.matcher.terms.Clear(len(s.known))
	for _, i := range s.known {
		s.matcher.terms.Put(s.terms(i).Term, i)
	}
	s.tabled = true
}
