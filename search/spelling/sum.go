package spelling

import "math/bits"

// sum tells most pairs of words apart: the lowest lengthBits bits are the number of letters (at most
// maxLength), and each other bit is the parity of the number of letters of one class.
type sum uint32

const (
	lengthBits = 6
	maxLength  = 1<<lengthBits - 1
	classes    = 32 - lengthBits
)

func sumOf(word string) sum {
	n, parity := 0, sum(0)
	for _, r := range word {
		n++
		parity ^= 1 << (lengthBits + uint32(r)*0x9e3779b1>>16*classes>>16)
	}
	return parity | sum(min(n, maxLength))
}

// within reports whether words with these sums can be within some edits: an edit changes the length
// by at most one and at most two parities.
func (s sum) within(t sum, edits int) bool {
	apart := int(s&maxLength) - int(t&maxLength)
	return apart <= edits && -apart <= edits && bits.OnesCount32(uint32(s^t)>>lengthBits) <= 2*edits
}
