package wire

import (
	"math"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"adshard/fault"
	"adshard/schema/pb"
	"adshard/search"
)

// AppendAnswer appends the message pb.SearchResponse of a slave's answer.
func AppendAnswer(b []byte, a *search.Answer) []byte {
	var at int
	for i := range a.Hits {
		b, at = begin(b, 1)
		b = end(appendHit(b, &a.Hits[i]), at)
	}
	b = appendVarint(b, 2, a.Matched)
	b = appendVarint(b, 3, a.Candidates)
	b = appendBool(b, 4, a.CountsExact)
	b = appendVarint(b, 5, a.Width.Hi)
	b = appendVarint(b, 6, a.Width.Lo)
	b = appendVarint(b, 7, a.View)
	b = appendVarint(b, 8, a.AppliedClock)
	b = appendVarint(b, 9, a.Work.Examined)
	b = appendVarint(b, 10, a.Work.BlocksRead)
	b = appendVarint(b, 11, a.Work.BlocksSkipped)
	b = appendVarint(b, 12, a.Work.BlocksBad)
	b = appendFixed64(b, 14, uint64(a.Shard))
	b = appendVarint(b, 15, uint64(max(a.Lag, 0).Microseconds()))
	b = appendText(b, 20, a.WhyIncomplete)
	if len(a.Filtered) > 0 {
		b, at = begin(b, 21)
		for _, n := range a.Filtered {
			b = protowire.AppendVarint(b, n)
		}
		b = end(b, at)
	}
	return appendScorer(b, 22, &a.Scorer)
}

func appendHit(b []byte, h *search.Hit) []byte {
	b = appendVarint(b, 1, h.Keyword)
	b = appendVarint(b, 2, h.Group)
	b = appendVarint(b, 3, h.Campaign)
	b = appendVarint(b, 4, h.Advertiser)
	b = appendVarint(b, 5, h.Score)
	b = appendVarint(b, 6, h.Quality)
	b = appendVarint(b, 7, uint64(h.Type))
	b = appendVarint(b, 8, uint64(h.Level))
	b = appendBytes(b, 14, h.Display.Keyword)
	b = appendBytes(b, 15, h.Display.Group)
	b = appendVarint(b, 16, h.Ad)
	return appendVarint(b, 17, uint64(h.Filters))
}

// ParseAnswer reads a message made by AppendAnswer: the answer of one shard. The result refers to
// b, which must not change any more. Errors: fault.Invalid if a bound is exceeded, or if b is not
// such a message.
func ParseAnswer(b []byte) (*search.Answer, error) {
	hits := 0
	f := fields{rest: b}
	for f.next() {
		if f.tag == 1<<3|asBytes {
			hits++
		}
	}
	switch {
	case f.err != nil:
		return nil, f.err
	case hits > maxHits:
		return nil, tooMany("SearchResponse.hits", maxHits)
	}
	a := &search.Answer{Shards: 1, Answered: 1}
	if hits > 0 {
		a.Hits = make([]search.Hit, 0, hits)
	}
	f = fields{rest: b}
	for f.next() {
		switch f.tag {
		case 1<<3 | asBytes:
			a.Hits = append(a.Hits, search.Hit{})
			f.err = parseHit(&a.Hits[len(a.Hits)-1], f.b)
		case 2<<3 | asVarint:
			a.Matched = f.n
		case 3<<3 | asVarint:
			a.Candidates = f.n
		case 4<<3 | asVarint:
			a.CountsExact = f.n != 0
		case 5<<3 | asVarint:
			a.Width.Hi = f.n
		case 6<<3 | asVarint:
			a.Width.Lo = f.n
		case 7<<3 | asVarint:
			a.View = f.n
		case 8<<3 | asVarint:
			a.AppliedClock = f.n
		case 14<<3 | asFixed64:
			a.Shard = search.ShardID(f.n)
		case 15<<3 | asVarint:
			a.Lag = lag(f.n)
		case 20<<3 | asBytes:
			a.WhyIncomplete = f.text("SearchResponse.lacking", maxLacking)
		case 22<<3 | asBytes:
			a.Scorer, f.err = toScorer(f.b)
		case 21<<3 | asBytes, 21<<3 | asVarint:
			a.Filtered = varints(&f, a.Filtered, "SearchResponse.filtered", search.MaxPlacements)
		default:
			parseWork(&a.Work, &f)
		}
	}
	if f.err != nil {
		return nil, f.err
	}
	return a, nil
}

// lag returns a lag of this many microseconds, or the largest possible one.
func lag(micros uint64) time.Duration {
	const most = uint64(math.MaxInt64 / time.Microsecond)
	return time.Duration(min(micros, most)) * time.Microsecond
}

func parseWork(w *search.Work, f *fields) {
	switch f.tag {
	case 9<<3 | asVarint:
		w.Examined = f.n
	case 10<<3 | asVarint:
		w.BlocksRead = f.n
	case 11<<3 | asVarint:
		w.BlocksSkipped = f.n
	case 12<<3 | asVarint:
		w.BlocksBad = f.n
	}
}

// parseHit reads a hit. As in toHit, a match type or level that is not known is read as the worst
// one.
func parseHit(h *search.Hit, b []byte) error {
	f := fields{rest: b}
	for f.next() {
		switch f.tag {
		case 1<<3 | asVarint:
			h.Keyword = f.n
		case 2<<3 | asVarint:
			h.Group = f.n
		case 3<<3 | asVarint:
			h.Campaign = f.n
		case 4<<3 | asVarint:
			h.Advertiser = f.n
		case 5<<3 | asVarint:
			h.Score = f.n
		case 6<<3 | asVarint:
			h.Quality = f.n
		case 7<<3 | asVarint:
			h.Type = toType(pb.MatchType(int32(f.n)))
		case 8<<3 | asVarint:
			h.Level = toLevel(uint32(f.n))
		case 9<<3 | asBytes, 10<<3 | asBytes, 11<<3 | asBytes, 12<<3 | asBytes:
			f.err = fault.Field(checkOp, "Hit", "a hit has names in explanations only")
		case 14<<3 | asBytes:
			h.Display.Keyword = f.piece("Hit.text")
		case 15<<3 | asBytes:
			h.Display.Group = f.piece("Hit.shown")
		case 16<<3 | asVarint:
			h.Ad = f.n
		case 17<<3 | asVarint:
			h.Filters = uint8(f.n)
		}
	}
	return f.err
}

// piece returns a piece of the data to be shown, without copying it.
func (f *fields) piece(name string) []byte {
	if len(f.b) > maxPiece {
		f.err = tooLong(name, len(f.b), maxPiece)
		return nil
	}
	if len(f.b) == 0 {
		return nil
	}
	return f.b
}
