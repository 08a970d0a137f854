package query

import (
	"context"

	"adshard/barrels/block"
	"adshard/barrels/index"
	"adshard/barrels/kv"
)

// visitTerms visits the blocks anchored at the capped terms. A scan that prunes begins with those
// blocks of long lists that have the highest reach, and ends with the rest of these lists.
func (s *scan) visitTerms(ctx context.Context) error {
	if s.off {
		return s.visitLists(ctx)
	}
	s.pruner.lists = s.pruner.lists[:0]
	for _, i := range s.capped {
		if f := &s.postings.lists[i]; s.prunes(f) {
			s.pruner.lists = append(s.pruner.lists, f.list)
		}
	}
	s.visitFirst()
	if err := s.visitLists(ctx); err != nil {
		return err
	}
	return s.visitRest(ctx)
}

// visitLists visits the lists of the capped terms, except those that are pruned.
func (s *scan) visitLists(ctx context.Context) error {
	for _, i := range s.capped {
		var err error
		switch f := &s.postings.lists[i]; {
		case !f.anchors || s.prunes(f):
		case f.list != nil:
			err = s.visitList(ctx, f.list)
		default:
			err = s.visitStored(ctx, s.terms(i).Term)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// visitFirst visits the blocks with the highest reach of all long lists.
func (s *scan) visitFirst() {
	s.choose()
	for rest := s.first; len(rest) > 0; {
		n := min(wave, len(rest))
		s.visitWave(rest[:n])
		rest = rest[n:]
	}
}

// visitRest visits the other blocks of long lists that can still win.
func (s *scan) visitRest(ctx context.Context) error {
	s.batch = s.batch[:0]
	for _, l := range s.pruner.lists {
		reach := l.Reach(s.scope.state.Parents, s.scope.request.Device)
		for g := range reach.Groups {
			if !s.canBid(reach.Groups[g], block.LeastBidRatio, s.best) {
				continue
			}
			for i := g * index.GroupBlocks; i < min((g+1)*index.GroupBlocks, len(reach.Blocks)); i++ {
				if !s.canBid(reach.Blocks[i], block.LeastBidRatio, s.best) || s.isFirst(l, i) {
					continue
				}
				if s.batch = append(s.batch, queuedBlock{l, i, reach.Blocks[i]}); len(s.batch) == wave {
					if err := s.interrupted(ctx); err != nil {
						return err
					}
					s.visitWave(s.batch)
					s.batch = s.batch[:0]
				}
			}
		}
	}
	s.visitWave(s.batch)
	return nil
}

// visitWave visits the blocks of a wave that can still win.
func (s *scan) visitWave(blocks []queuedBlock) {
	survived := s.surviving(&s.postings, blocks, s.best)
	for i, b := range survived {
		s.visitCached(b.list, b.block, i < len(survived)-1)
	}
}

// visitList visits all blocks of a cached list.
func (s *scan) visitList(ctx context.Context, list *index.PostingList) error {
	for i := range list.Blocks {
		if err := s.interrupted(ctx); err != nil {
			return err
		}
		s.visitCached(list, i, true)
	}
	return nil
}

// visitCached visits the i-th block of a cached list. For later see visit.
func (s *scan) visitCached(list *index.PostingList, i int, later bool) {
	if b := list.Block(i); b == nil || !s.visitSafely(refOf(b), b.Term, later) {
		s.uncache(list.Blocks[i].Load().Term)
		s.scope.memory = true
		to := ^uint64(0)
		if i+1 < len(list.Blocks) {
			to = list.Place(i + 1).Key
		}
		s.scope.bad = append(s.scope.bad, index.Interval{Lo: list.Place(i).Key, Hi: to})
	}
}

// visitStored visits the blocks of a term as they are in the snapshot. It caches them if all are
// undamaged and together not too large.
func (s *scan) visitStored(ctx context.Context, term uint64) error {
	c := s.scope.caches.Lists.NewListBuilder(term)
	from := uint64(0) // ring key at which the next block begins
	torn := false     // whether the block before was damaged
	for ok := s.seek(term); ok; ok = s.it.Next() {
		if err := s.interrupted(ctx); err != nil {
			return err
		}
		from = kv.KeyPart(s.it.Key(), 1)
		if torn {
			s.scope.bad[len(s.scope.bad)-1].Hi = from
		}
		b, good := s.open(&c)
		if torn = !good || !s.visitSafely(b, term, false); torn {
			c.Abandon()
			s.scope.bad = append(s.scope.bad, index.Interval{Lo: from, Hi: ^uint64(0)})
		}
	}
	if s.it.Err() != nil {
		s.scope.bad = append(s.scope.bad, index.Interval{Lo: from, Hi: ^uint64(0)})
	} else if list := c.List(s.scope.state.Number); list != nil {
		s.scope.caches.Lists.Put(s.scope.state.Terms, term, list)
	}
	return nil
}

// visitSafely visits a block. It returns false if the block's bytes are damaged and made a reader
// panic. A panic on undamaged bytes is a defect and is passed on to the caller. fault.Recover does
// not fit here: it would fail the whole search, while damage costs only this block.
func (s *scan) visitSafely(b blockRef, term uint64, later bool) (good bool) {
	defer func() {
		if cause := recover(); cause != nil {
			if good = false; b.view.Verify() == nil {
				if b.cached != nil {
					s.uncache(term) // the cached form may be the damaged part
				}
				panic(cause)
			}
		}
	}()
	s.visit(b, term, later)
	return true
}

// visit collects the classes of a block whose signatures pass. If later is set, the block is
// undamaged and stays unchanged until the search ends. Its classes can then be matched later,
// together with those of other blocks, so that memory accesses overlap. Otherwise they are matched
// before visit returns.
func (s *scan) visit(b blockRef, term uint64, later bool) {
	if !s.deadBlocks && !b.live() || !s.off && !s.blockCanWin(b, s.best) {
		s.work.BlocksSkipped++
		return
	}
	s.sink.enter(b, term)
	s.work.BlocksRead++
	s.work.Examined += uint64(b.len())
	if !later { // so that damage in this block does not affect classes of other blocks
		s.matchPending()
	}
	for i, sig := range b.signatures() {
		if sig.Within(s.signature) {
			s.pending = append(s.pending, classRef{blockRef: b, class: int32(i)})
		}
	}
	if !later || len(s.pending) >= maxPending {
		s.matchPending()
	}
}

var _ sink = (*ranking)(nil)
