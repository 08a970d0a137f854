package search

import (
	"context"
	"sync"
)

// Scan finds all postings that match q under p and hands them to sink. It
// looks at the blocks of each of the query's terms, those that a word of the
// query gives itself before those by synonyms only, so that the best hits come
// early and blocks that cannot win are passed over.
//
// A keyword of a campaign with several languages is anchored once in each and
// may therefore be handed over several times, at different levels: the sink
// counts it once, by its id, and the best level counts. Passing blocks over
// stays exact: the block in which a keyword agrees best bounds the keyword's
// score at that level, and so at each worse level too; if that bound is below
// what is needed to be among the best, none of its levels is among them,
// whichever was or will be found elsewhere, since what is needed never falls.
// Totals of matches are then lower bounds; a sink that counts exactly passes
// nothing.
//
// It ends early with the error of postings (fault.Deadline, fault.Cancelled);
// the work says what was done till then.
func Scan(ctx context.Context, q *Query, p Profile, postings Postings, sink Sink) (Work, error) {
	s := scans.Get().(*scan)
	defer s.free()
	s.reset(q, p, postings)
	s.sink = sink
	for _, best := range [...]Level{Identical, Synonym} {
		if err := s.visitTerms(ctx, postings, best); err != nil {
			return s.work, err
		}
	}
	return s.work, nil
}

// scan is the state of one Scan; it is pooled, so that a search allocates
// nothing once its scratch has grown.
type scan struct {
	Matcher
	sink Sink
	best Level // cap of the term whose blocks are being visited
	work Work
	// known are those of the query's terms that keywords may have, by index;
	// signature is theirs.
	known     []int32
	signature Signature
	visit     func(Block)
}

// scans pools the scratch of searches; it holds no state between them.
var scans = sync.Pool{New: func() any {
	s := new(scan)
	s.visit = s.visitBlock
	return s
}}

// reset begins a scan. Of the query's terms, several a word, only those that
// keywords may have are held against them.
func (s *scan) reset(q *Query, p Profile, postings Postings) {
	s.Matcher.reset(q, p)
	s.work, s.signature = Work{}, 0
	s.known = postings.Find(q.Terms, s.known[:0])
	s.terms.clear(len(s.known))
	for _, i := range s.known {
		s.signature |= SignatureOf(q.Terms[i].Term)
		s.terms.put(q.Terms[i].Term, i)
	}
}

func (s *scan) free() {
	s.sink = nil
	s.release()
	scans.Put(s)
}

// visitTerms visits the blocks of the terms whose cap is best.
func (s *scan) visitTerms(ctx context.Context, postings Postings, best Level) error {
	if best > s.reach {
		return nil
	}
	s.best = best
	for _, i := range s.known {
		if s.query.Terms[i].Cap() != best {
			continue
		}
		if err := postings.Blocks(ctx, int(i), best, s.visit); err != nil {
			return err
		}
	}
	return nil
}

// visitBlock decides on one block.
func (s *scan) visitBlock(b Block) {
	if s.sink.Pass(b, s.best) {
		s.work.BlocksPassed++
		return
	}
	s.work.BlocksRead++
	s.work.Looked += uint64(b.Len())
	taken := false
	for i, sig := range b.Signatures() {
		if !sig.Within(s.signature) || s.sink.PassClass(b, i, s.best) {
			continue
		}
		if t, norms := b.Norms(i); s.asked(t, norms) {
			s.sink.Match(b, i, Identical)
			continue
		}
		if !taken {
			s.take(b)
			taken = true
		}
		t, words := b.Class(i)
		if l := s.class(t, words); l != NoLevel {
			s.sink.Match(b, i, l)
		}
	}
}
