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
	capped    []int32 // those of them whose cap is best
	signature Signature
	visit     Visit
	// candidates are the classes that the signature lets through and that are not
	// decided on yet.
	candidates []Candidate
	// tabled: the known terms are in the table, which few searches need.
	tabled bool
	// touched keeps the compiler from leaving out what is only touched.
	touched int
}

// together is how many candidates wait for each other at most. More do not make
// memory any quicker, and what is needed to be among the best rises only when
// they are decided on.
const together = 32

// scans pools the scratch of searches; it holds no state between them.
var scans = sync.Pool{New: func() any {
	s := new(scan)
	s.visit = s.visitBlock
	return s
}}

// reset begins a scan.
func (s *scan) reset(q *Query, p Profile, postings Postings) {
	s.Matcher.reset(q, p)
	s.work, s.signature = Work{}, 0
	s.known, s.tabled = postings.Find(q.Terms, s.known[:0]), false
	for _, i := range s.known {
		s.signature |= SignatureOf(q.Terms[i].Term)
	}
}

// take makes b the block whose classes are decided on by its vocabulary. Of the
// query's terms, several a word, only those that keywords may have are held
// against it.
func (s *scan) take(b Block) {
	if !s.tabled {
		s.terms.clear(len(s.known))
		for _, i := range s.known {
			s.terms.put(s.query.Terms[i].Term, i)
		}
		s.tabled = true
	}
	s.Matcher.take(b)
}

func (s *scan) free() {
	s.sink = nil
	clear(s.candidates)
	s.candidates = s.candidates[:0]
	s.release()
	scans.Put(s)
}

// visitTerms visits the blocks of the terms whose cap is best.
func (s *scan) visitTerms(ctx context.Context, postings Postings, best Level) error {
	if best > s.reach {
		return nil
	}
	s.best, s.capped = best, s.capped[:0]
	for _, i := range s.known {
		if s.query.Terms[i].Cap() == best {
			s.capped = append(s.capped, i)
		}
	}
	if err := postings.Blocks(ctx, s.capped, best, s.visit); err != nil {
		return err
	}
	s.decide()
	return nil
}

// visitBlock finds the candidates of one block.
func (s *scan) visitBlock(b Block, later bool) {
	if s.sink.Pass(b, s.best) {
		s.work.BlocksPassed++
		return
	}
	s.work.BlocksRead++
	s.work.Looked += uint64(b.Len())
	if !later { // those of others are not to suffer if it is damaged
		s.decide()
	}
	for i, sig := range b.Signatures() {
		if sig.Within(s.signature) {
			s.candidates = append(s.candidates, Candidate{Block: b, Class: int32(i)})
		}
	}
	if !later || len(s.candidates) >= together {
		s.decide()
	}
}

// decide decides on the candidates. Each step does the same for all of them, so
// that the processor fetches what it needs side by side.
func (s *scan) decide() {
	all := s.candidates
	if len(all) == 0 {
		return
	}
	s.candidates = all[:0]
	defer func() { // even if a damaged block makes one of them panic
		clear(all)
		s.block = nil // another may come under its address
	}()
	list := s.sink.Sift(all, s.best)
	for i := range list {
		_, norms := list[i].Block.Norms(int(list[i].Class))
		s.touched += len(norms)
	}
	n := 0
	for i := range list {
		if l := s.candidate(&list[i]); l != NoLevel {
			if n < i {
				list[n] = list[i]
			}
			list[n].Level = l
			n++
		}
	}
	if n > 0 {
		s.sink.Match(list[:n])
	}
}

// candidate returns the level at which a class matches.
func (s *scan) candidate(c *Candidate) Level {
	if l, decided := s.byNorms(c.Block.Norms(int(c.Class))); decided {
		return l
	}
	if s.block != c.Block {
		s.take(c.Block)
	}
	return s.class(c.Block.Class(int(c.Class)))
}
