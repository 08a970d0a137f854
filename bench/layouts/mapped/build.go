package mapped

import (
	"cmp"
	"context"
	"encoding/binary"
	"path/filepath"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"adshard/bench/layouts"
	"adshard/bench/layouts/record"
	"adshard/fault"
	"adshard/search/words"
)

// names are the names of the barrels.
var names = [...]string{"words", "matching", "keywords"}

// builder writes the barrels of a set.
type builder struct {
	set      *layouts.Set
	hashes   []uint64 // by word
	dir      string
	progress func(float64)
	done     int
	value    []byte
}

func (b *builder) build(ctx context.Context) error {
	b.hashes = make([]uint64, len(b.set.Words))
	for i, w := range b.set.Words {
		b.hashes[i] = words.Hash(w)
	}
	for i, part := range []func(context.Context, *writer) error{b.words, b.matching, b.keywords} {
		w, err := create(filepath.Join(b.dir, names[i]))
		if err != nil {
			return err
		}
		if err := part(ctx, w); err != nil {
			_ = w.f.Close() // the file stays without a head
			return err
		}
		if err := w.finish(); err != nil {
			return err
		}
	}
	return nil
}

// words writes Protocol Buffers of the form
//
//	message Keywords { repeated fixed32 positions = 1; }
func (b *builder) words(ctx context.Context, w *writer) error {
	order := make([]uint32, b.set.Len())
	for i := range order {
		order[i] = uint32(i)
	}
	first := func(i uint32) uint64 { return b.hashes[b.set.Of(int(i))[0]] }
	slices.SortFunc(order, func(x, y uint32) int { return cmp.Or(cmp.Compare(first(x), first(y)), cmp.Compare(x, y)) })
	for n := 0; n < len(order); {
		end := n
		for end < len(order) && first(order[end]) == first(order[n]) {
			end++
		}
		b.begin(4 * (end - n))
		for _, i := range order[n:end] {
			b.value = binary.LittleEndian.AppendUint32(b.value, i)
		}
		if err := w.add(b.value, first(order[n])); err != nil {
			return err
		}
		if err := b.wrote(ctx, end-n); err != nil {
			return err
		}
		n = end
	}
	return nil
}

// matching writes Protocol Buffers of the form
//
//	message Matching { repeated fixed64 rest = 1; }
func (b *builder) matching(ctx context.Context, w *writer) error {
	for i := range b.set.Len() {
		rest := b.set.Of(i)[1:]
		b.begin(8 * len(rest))
		for _, r := range rest {
			b.value = binary.LittleEndian.AppendUint64(b.value, b.hashes[r])
		}
		if err := w.add(b.value); err != nil {
			return err
		}
		if err := b.wrote(ctx, 1); err != nil {
			return err
		}
	}
	return nil
}

// begin begins a message whose first field is a packed list of the given size.
// Without a list the message is empty.
func (b *builder) begin(size int) {
	b.value = b.value[:0]
	if size > 0 {
		b.value = protowire.AppendTag(b.value, 1, protowire.BytesType)
		b.value = protowire.AppendVarint(b.value, uint64(size))
	}
}

func (b *builder) keywords(ctx context.Context, w *writer) (err error) {
	for i := range b.set.Len() {
		if b.value, err = record.Append(b.value[:0], b.set, i, nil); err != nil {
			return err
		}
		if err := w.add(b.value); err != nil {
			return err
		}
		if err := b.wrote(ctx, 1); err != nil {
			return err
		}
	}
	return nil
}

// wrote counts keywords and reports from time to time the share that is built.
func (b *builder) wrote(ctx context.Context, n int) error {
	before := b.done >> 14
	if b.done += n; b.done>>14 == before && b.done > n {
		return nil
	}
	if b.progress != nil {
		b.progress(float64(b.done) / float64(len(names)*b.set.Len()))
	}
	if err := ctx.Err(); err != nil {
		return fault.New(fault.KindOf(err), "mapped: build", err)
	}
	return nil
}
