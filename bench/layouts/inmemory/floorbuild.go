package inmemory

import (
	"cmp"
	"context"
	"hash/maphash"
	"math/bits"
	"slices"

	"adshard/bench/layouts"
)

// newFloor builds the layout from a set.
func newFloor(ctx context.Context, set *layouts.Set, progress func(float64)) (*floorStore, error) {
	f := &floorStore{seed: maphash.MakeSeed(), words: len(set.Words), data: []uint32{0}}
	number := numbers(set)
	byAnchor, ends := byAnchor(set, number)
	at := make([]uint32, len(set.Words)) // by number
	p := packer{set: set, number: number}
	begin := uint32(0)
	for w, end := range ends {
		if w&0xFFF == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if progress != nil {
				progress(float64(w) / float64(len(ends)))
			}
		}
		if begin < end {
			at[w] = uint32(len(f.data))
			f.data = p.append(f.data, uint32(w), byAnchor[begin:end])
		}
		begin = end
	}
	f.data = slices.Clip(f.data)
	f.slots = make([]slot, 1<<bits.Len(uint(2*len(set.Words))))
	for i, word := range set.Words {
		h := f.hash(word)
		*f.find(h) = slot{hash: h, word: number[i], at: at[number[i]]}
	}
	return f, nil
}

// numbers returns each word's number, 0 for the commonest.
func numbers(set *layouts.Set) []uint32 {
	out := make([]uint32, len(set.Words))
	for number, word := range set.Commonest(len(set.Words)) {
		out[word] = uint32(number)
	}
	return out
}

// byAnchor sorts the keywords by their anchors' numbers. The keywords of
// anchor w end at ends[w].
func byAnchor(set *layouts.Set, number []uint32) (keywords, ends []uint32) {
	anchor := make([]uint32, set.Len())
	ends = make([]uint32, len(set.Words))
	for i := range anchor {
		for _, w := range set.Of(i) {
			anchor[i] = max(anchor[i], number[w])
		}
		ends[anchor[i]]++
	}
	sum := uint32(0)
	for w, n := range ends {
		ends[w], sum = sum, sum+n
	}
	keywords = make([]uint32, set.Len())
	for i, w := range anchor {
		keywords[ends[w]] = uint32(i)
		ends[w]++
	}
	return keywords, ends
}

// packer appends the postings of anchors.
type packer struct {
	set    *layouts.Set
	number []uint32
	others [layouts.MaxWords][]uint32 // posting after posting, by number of other words
	counts [layouts.MaxWords]uint32
}

func (p *packer) append(data []uint32, anchor uint32, keywords []uint32) []uint32 {
	for k := range p.others {
		p.others[k], p.counts[k] = p.others[k][:0], 0
	}
	var tuple []uint32
	for _, i := range keywords {
		tuple = tuple[:0]
		for _, w := range p.set.Of(int(i)) {
			if n := p.number[w]; n != anchor {
				tuple = append(tuple, n)
			}
		}
		slices.SortFunc(tuple, func(a, b uint32) int { return cmp.Compare(b, a) })
		k := len(tuple)
		p.others[k] = append(p.others[k], tuple...)
		p.counts[k]++
	}
	return p.pack(data)
}

// pack appends what append has collected.
func (p *packer) pack(data []uint32) []uint32 {
	head := len(data)
	data = append(data, 0, 0)
	for k, n := range p.counts {
		if n > 0 {
			data[head] |= 1 << k
			data = append(data, n)
		}
		if k > 0 {
			data[head+1] += n
		}
	}
	for k := 1; k < layouts.MaxWords; k++ {
		for i := 0; i < len(p.others[k]); i += k {
			data = append(data, p.others[k][i])
		}
	}
	for k := 2; k < layouts.MaxWords; k++ {
		for i := 0; i < len(p.others[k]); i += k {
			data = append(data, p.others[k][i+1:i+k]...)
		}
	}
	return data
}
