package block

// wordIndex finds a block's words by their hashes. It uses open addressing, and is emptied by a new
// generation number instead of by writing.
type wordIndex struct {
	slots      []wordSlot
	generation uint32
	used       int
}

type wordSlot struct {
	generation uint32
	word       uint16
}

// minSlots is enough for most blocks.
const minSlots = 1024

func (x *wordIndex) reset() {
	x.used = 0
	x.generation++
	if x.generation == 0 || x.slots == nil {
		x.slots = make([]wordSlot, max(minSlots, len(x.slots)))
		x.generation = 1
	}
}

// find returns the index of w among words and true. If w is not among them, it assigns the next
// index to w, which the caller appends, and returns false.
func (x *wordIndex) find(w Word, words []Word) (uint16, bool) {
	if x.slots == nil {
		x.reset()
	}
	mask := uint64(len(x.slots) - 1)
	h := w.Norm ^ w.Term>>1
	for i := h & mask; ; i = (i + 1) & mask {
		s := &x.slots[i]
		if s.generation != x.generation {
			*s = wordSlot{x.generation, uint16(len(words))}
			x.grow(words, w)
			return uint16(len(words)), false
		}
		if words[s.word] == w {
			return s.word, true
		}
	}
}

// grow doubles the table if it is half full.
func (x *wordIndex) grow(words []Word, last Word) {
	if x.used++; 2*x.used < len(x.slots) {
		return
	}
	x.slots = make([]wordSlot, 2*len(x.slots))
	x.generation = 1
	mask := uint64(len(x.slots) - 1)
	put := func(w Word, index int) {
		i := (w.Norm ^ w.Term>>1) & mask
		for x.slots[i].generation == x.generation {
			i = (i + 1) & mask
		}
		x.slots[i] = wordSlot{x.generation, uint16(index)}
	}
	for i, w := range words {
		put(w, i)
	}
	put(last, len(words))
}
