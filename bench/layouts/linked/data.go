package linked

import (
	"context"
	"encoding/binary"

	"github.com/cespare/xxhash/v2"

	"adshard/bench/layouts"
	"adshard/bench/layouts/record"
	"adshard/fault"
)

// data holds the bytes that RInK and stateful keep. A value of matching holds the
// keywords that begin with a word: for each keyword its id, the number of its other
// words (both as uvarint), and their hashes (8 bytes each, little endian). records
// holds the records of package record, by id.
type data struct {
	matching map[string][]byte
	records  map[uint64][]byte
	size     uint64 // of all keys and values, in bytes
}

func hash(word string) uint64 { return xxhash.Sum64String(word) }

// each calls `do` for each keyword of a set.
func each(ctx context.Context, set *layouts.Set, progress func(float64), do func(i int) error) error {
	for i := range set.Len() {
		if i&0xFFF == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			if progress != nil {
				progress(float64(i) / float64(set.Len()))
			}
		}
		if err := do(i); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func newData(ctx context.Context, set *layouts.Set, o layouts.Options) (*data, error) {
	d := &data{matching: make(map[string][]byte), records: make(map[uint64][]byte, set.Len())}
	err := each(ctx, set, o.Progress, func(i int) error {
		of := set.Of(i)
		first := set.Words[of[0]]
		v := binary.AppendUvarint(d.matching[first], set.ID(i))
		v = binary.AppendUvarint(v, uint64(len(of)-1))
		for _, w := range of[1:] {
			v = binary.LittleEndian.AppendUint64(v, hash(set.Words[w]))
		}
		d.matching[first] = v
		r, err := record.Append(nil, set, i, nil)
		d.records[set.ID(i)] = r
		d.size += uint64(len(r)) + 8
		return err
	})
	if err != nil {
		return nil, err
	}
	for k, v := range d.matching {
		d.size += uint64(len(k) + len(v))
	}
	return d, nil
}

// value is a cursor over a value of matching.
type value []byte

// next returns the next keyword: its id, and whether all its other words are in the
// query. It returns fault.Corrupt if the value is cut off.
func (v *value) next(query map[uint64]struct{}) (id uint64, matches bool, err error) {
	id, a := binary.Uvarint(*v)
	if a <= 0 {
		return 0, false, record.Damaged()
	}
	n, b := binary.Uvarint((*v)[a:])
	if b <= 0 || n > uint64(len(*v)-a-b)/8 {
		return 0, false, record.Damaged()
	}
	rest := (*v)[a+b:]
	matches = true
	for i := range int(n) {
		if _, ok := query[binary.LittleEndian.Uint64(rest[8*i:])]; !ok {
			matches = false
			break
		}
	}
	*v = rest[8*n:]
	return id, matches, nil
}

// missing returns the error for a record that does not exist although the matching
// data refer to it.
func missing(id uint64) error {
	return fault.Newf(fault.Corrupt, "linked: search", "keyword %d has no record", id)
}
