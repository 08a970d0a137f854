package spelling

import (
	"math/bits"

	"adshard/search/words"
)

// index finds words by what is left of their beginnings after deletions. It is a hash table of lists of
// entries: list i has those from starts[i] to starts[i+1], by ascending id. An entry is an id with a
// tag, so that few of the other rests in the same list are looked at.
//
// Let a and b be words with the same first letter, within k edits of each other. Take from each its
// beginning of p letters, filled up with zeros. Then some deletions of exactly k of the letters 2 to
// p from each leave the same: the letters that are edited within the beginnings are deleted; an
// inserted letter shifts the rest of a beginning, of which the last letter is deleted from the
// other; and what is still missing to k is deleted at equal places. Both words are trimmed of their
// equal first letter before they are compared (near.Distance), so it need not be deleted.
//
// Of the words with one rest only the first mostAlike by rank have an entry, so that few words are compared however many
// begin alike.
type index struct {
	starts  []uint32
	entries []uint32
	shift   uint8 // 64 − bits of a list's number
	// known has 32 bits of the hash of each word, at a place that other bits give, or the next free one.
	known []uint32
}

// beginnings are the lengths p of the beginnings by number of deletions. Longer ones give more lists,
// and shorter ones.
var beginnings = [...]int{1: 8, 2: 8}

const (
	// maxRests is more than the number of rests of one word.
	maxRests = 32
	// idBits is the number of bits of an id in an entry; the others are the tag.
	idBits = 22
	idMask = 1<<idBits - 1
)

// build makes the index of a vocabulary's words: with one deletion those that are short enough to
// correct a word in which one edit is corrected, and with two those that are long enough to correct
// the others.
func (x *index) build(v *Vocabulary) {
	n := len(v.starts)
	x.shift = uint8(64 - bits.Len(uint(n))) // about a cache line a list
	x.starts = make([]uint32, 1<<(64-x.shift)+1)
	x.known = make([]uint32, 1<<bits.Len(uint(2*n)))
	var room [maxRests]uint64
	for id := range v.starts {
		x.know(words.Hash(v.word(uint32(id))))
		for _, k := range v.rests(uint32(id), room[:0]) {
			x.starts[k>>x.shift+1]++
		}
	}
	last := x.bound(v)
	for i := 1; i < len(x.starts); i++ {
		x.starts[i] += x.starts[i-1]
	}
	x.entries = make([]uint32, x.starts[len(x.starts)-1])
	for id := n - 1; id >= 0; id-- { // from the last, so that each list is filled from its end
		for _, k := range v.rests(uint32(id), room[:0]) {
			if most, bounded := last[k]; bounded && uint32(id) > most {
				continue
			}
			end := &x.starts[k>>x.shift+1]
			*end--
			x.entries[*end] = tagOf(k)<<idBits | uint32(id)
		}
	}
	copy(x.starts, x.starts[1:]) // each end has become the start
	x.starts[len(x.starts)-1] = uint32(len(x.entries))
}

// bound finds the rests of more than mostAlike words, and takes these words' further entries off the lists' lengths, which are
// in x.starts. It returns the last id that has an entry of each such rest.
func (x *index) bound(v *Vocabulary) (last map[uint64]uint32) {
	if len(v.starts) <= mostAlike {
		return nil
	}
	var room [maxRests]uint64
	counts := make(map[uint64]uint32) // of rests in long lists
	long := make([]bool, len(x.starts))
	for i, n := range x.starts {
		long[i] = n > mostAlike
	}
	last = make(map[uint64]uint32)
	for id := range v.starts {
		for _, k := range v.rests(uint32(id), room[:0]) {
			list := k>>x.shift + 1
			if !long[list] {
				continue
			}
			counts[k]++
			switch n := counts[k]; {
			case n == mostAlike:
				last[k] = uint32(id)
			case n > mostAlike:
				x.starts[list]--
			}
		}
	}
	return last
}

// rests appends the keys of a word's rests that the index has.
func (v *Vocabulary) rests(id uint32, dst []uint64) []uint64 {
	word, n := v.word(id), v.sums[id]&maxLength
	if n <= lettersOfTwo {
		dst = appendRests(dst, word, 1)
	}
	if n >= lettersOfTwo-2 {
		dst = appendRests(dst, word, 2)
	}
	return dst
}

// list returns the entries among which those with a key are.
func (x *index) list(key uint64) []uint32 {
	slot := key >> x.shift
	return x.entries[x.starts[slot]:x.starts[slot+1]]
}

// tagOf returns bits of a key that do not decide its list.
func tagOf(key uint64) uint32 { return uint32(key) >> idBits }

func (x *index) know(hash uint64) {
	i, tag := x.place(hash)
	for x.known[i] != 0 {
		i = (i + 1) & (len(x.known) - 1)
	}
	x.known[i] = tag
}

// has reports whether a word is known. Another word is taken for it with a probability of about 2⁻³².
func (x *index) has(hash uint64) bool {
	i, tag := x.place(hash)
	for x.known[i] != 0 {
		if x.known[i] == tag {
			return true
		}
		i = (i + 1) & (len(x.known) - 1)
	}
	return false
}

func (x *index) place(hash uint64) (at int, tag uint32) {
	return int(hash) & (len(x.known) - 1), max(uint32(hash>>32), 1)
}

const prime = 0x9e3779b97f4a7c15

func mix(h uint64, r rune) uint64 { return bits.RotateLeft64(h^uint64(r), 29) * prime }

// appendRests appends the keys of a word's rests after `edits` deletions, 1 or 2.
func appendRests(dst []uint64, word string, edits int) []uint64 {
	var room [8]rune
	p := room[:beginnings[edits]]
	n := 0
	for _, r := range word {
		if n == len(p) {
			break
		}
		p[n] = r
		n++
	}
	from := len(dst)
	for i := 1; i < len(p); i++ {
		if edits == 1 {
			dst = appendNew(dst, from, rest(p, i, i))
			continue
		}
		for j := i + 1; j < len(p); j++ {
			dst = appendNew(dst, from, rest(p, i, j))
		}
	}
	return dst
}

// rest returns the key of a beginning without the letters i and j.
func rest(p []rune, i, j int) uint64 {
	h := uint64(1)
	if i != j {
		h = 2
	}
	for at, r := range p {
		if at != i && at != j {
			h = mix(h, r)
		}
	}
	return h * prime
}

func appendNew(dst []uint64, from int, key uint64) []uint64 {
	for _, k := range dst[from:] {
		if k == key {
			return dst
		}
	}
	return append(dst, key)
}
