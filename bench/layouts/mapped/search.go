package mapped

import (
	"context"
	"encoding/binary"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"adshard/bench/layouts"
	"adshard/bench/layouts/record"
	"adshard/fault"
	"adshard/search/words"
)

// searcher searches the barrels.
type searcher struct {
	*store
	hashes []uint64
	record record.Record
}

// Search implements layouts.Searcher.
func (s *searcher) Search(ctx context.Context, q *layouts.Query) (f layouts.Found, err error) {
	s.hashes = s.hashes[:0]
	signature := uint64(0)
	for _, w := range q.Words {
		h := words.Hash(w)
		s.hashes, signature = append(s.hashes, h), signature|1<<(h&63)
	}
	if err := over(ctx); err != nil {
		return f, err
	}
	for _, first := range s.hashes {
		at, ok := s.words.find(first)
		if !ok {
			continue
		}
		positions, err := list(s.words.value(at))
		if err != nil {
			return layouts.Found{}, err
		}
		if err := s.walk(ctx, positions, signature, &f); err != nil {
			return layouts.Found{}, err
		}
	}
	return f, nil
}

// look is the number of keywords after which a search checks its context.
const look = 1 << 14

// walk looks at the keywords at positions of 4 bytes each.
func (s *searcher) walk(ctx context.Context, positions []byte, signature uint64, f *layouts.Found) error {
	for n := 0; len(positions) >= 4; n++ {
		at := binary.LittleEndian.Uint32(positions)
		positions = positions[4:]
		if uint64(at) >= uint64(len(s.matching.ends)) || len(s.keywords.ends) != len(s.matching.ends) {
			return record.Damaged()
		}
		rest, err := list(s.matching.value(at))
		if err != nil {
			return err
		}
		if s.all(rest, signature) {
			if err := s.record.Read(s.keywords.value(at)); err != nil {
				return err
			}
			f.Matches, f.Sum = f.Matches+1, f.Sum+s.record.ID
		}
		if n%look == look-1 {
			if err := over(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// all reports whether all hashes, of 8 bytes each, are those of words of the query. The
// signature has a bit for each word of the query and rejects most keywords.
func (s *searcher) all(rest []byte, signature uint64) bool {
	for ; len(rest) >= 8; rest = rest[8:] {
		h := binary.LittleEndian.Uint64(rest)
		if signature>>(h&63)&1 == 0 || !slices.Contains(s.hashes, h) {
			return false
		}
	}
	return true
}

// Close implements layouts.Searcher.
func (s *searcher) Close() error { return nil }

// list returns the packed list that is the only field of a message, without copying it.
func list(b []byte) ([]byte, error) {
	if len(b) == 0 {
		return nil, nil
	}
	const tag = 1<<3 | byte(protowire.BytesType)
	v, n := protowire.ConsumeBytes(b[1:])
	if b[0] != tag || n < 0 {
		return nil, record.Damaged()
	}
	return v, nil
}

// over returns an error if the context is done.
func over(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fault.New(fault.KindOf(err), "mapped: search", err)
	}
	return nil
}
