package spelling

import (
	"unicode/utf8"

	"adshard/internal/near"
)

// Has reports whether the vocabulary has a word, given by the hash of its folded form (words.Hash).
func (v *Vocabulary) Has(hash uint64) bool { return v.index.has(hash) }

// Corrections returns the corrections of a word that the vocabulary does not have, given as a folded
// form, best first: at most Most words of the vocabulary.
func (v *Vocabulary) Corrections(word string) []string {
	edits := Edits(word)
	if edits == 0 {
		return nil
	}
	best := v.nearest(word, edits)
	var out []string
	for _, c := range best.list[:best.n] {
		out = append(out, v.word(c.id))
	}
	return out
}

// candidate is a word within some edits.
type candidate struct {
	edits int
	id    uint32
}

func (c candidate) before(d candidate) bool {
	return c.edits < d.edits || c.edits == d.edits && c.id < d.id
}

// corrections are the best candidates so far, best first.
type corrections struct {
	list [Most]candidate
	n    int
}

func (v *Vocabulary) nearest(word string, edits int) (best corrections) {
	var rooms [2][64]rune
	mine, s := appendRunes(rooms[0][:0], word), sumOf(word)
	var room [maxRests]uint64
	for _, key := range appendRests(room[:0], word, edits) {
		tag := tagOf(key)
		for _, e := range v.index.list(key) {
			id := e & idMask
			if e>>idBits != tag || !v.sums[id].within(s, edits) || !best.wants(candidate{1, id}) {
				continue
			}
			its := appendRunes(rooms[1][:0], v.word(id))
			if its[0] != mine[0] {
				continue
			}
			if d := near.Distance(mine, its, edits); d <= edits {
				best.add(candidate{d, id})
			}
		}
	}
	return best
}

func appendRunes(dst []rune, word string) []rune {
	for len(word) > 0 {
		r, n := utf8.DecodeRuneInString(word)
		dst, word = append(dst, r), word[n:]
	}
	return dst
}

// wants reports whether a candidate is better than the worst one, or there is room for it, and is not
// there yet.
func (b *corrections) wants(c candidate) bool {
	for _, has := range b.list[:b.n] {
		if has.id == c.id {
			return false
		}
	}
	return b.n < Most || c.before(b.list[Most-1])
}

// add adds a candidate that is not there yet, if it is better than the worst one or there is room.
func (b *corrections) add(c candidate) {
	if b.n == Most && !c.before(b.list[Most-1]) {
		return
	}
	at := min(b.n, Most-1)
	b.n = min(b.n+1, Most)
	for ; at > 0 && c.before(b.list[at-1]); at-- {
		b.list[at] = b.list[at-1]
	}
	b.list[at] = c
}
