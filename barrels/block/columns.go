package block

// The columns of a block, in the order in which they lie. Those from groupFlags on
// have one byte an element.
const (
	colID = iota
	colCampaign
	colAdvertiser
	colModifiers
	colKeyword
	colBid
	colFirst
	colGroup
	colRef
	colWidths // columns whose width the layout says

	colGroupFlags = iota - 1
	colKind
	colQuality
	colFlags
	columns
)

// shape says how many of each a block has, and how wide its columns are.
type shape struct {
	words, folds, groups, postings, refs, live uint16
	bounds                                     uint8
	width                                      [columns]uint8
}

// Places in the struct Layout of block.fbs.
const (
	layoutBounds = 12
	layoutWidths = 13
	layoutSize   = 24
)

// append appends the struct Layout.
func (s *shape) append(dst []byte) []byte {
	for _, n := range [...]uint16{s.words, s.folds, s.groups, s.postings, s.refs, s.live} {
		dst = append(dst, byte(n), byte(n>>8))
	}
	dst = append(dst, s.bounds)
	dst = append(dst, s.width[:colWidths]...)
	return append(dst, make([]byte, layoutSize-layoutWidths-colWidths)...)
}

// read reads the struct Layout; false: it cannot be one.
func (s *shape) read(b []byte) bool {
	for i, n := range [...]*uint16{&s.words, &s.folds, &s.groups, &s.postings, &s.refs, &s.live} {
		*n = u16(b, 2*i)
	}
	s.bounds = b[layoutBounds]
	copy(s.width[:colWidths], b[layoutWidths:])
	for c := range s.width {
		switch {
		case c >= colWidths:
			s.width[c] = 1
		case s.width[c] > 8:
			return false
		}
	}
	return s.postings > 0 && s.folds <= s.words && s.width[colRef] > 0 && s.width[colRef] <= 2
}

// elements is the number of elements of a column.
func (s *shape) elements(c int) int {
	switch c {
	case colID, colCampaign, colAdvertiser, colGroupFlags:
		return int(s.groups)
	case colModifiers:
		return devices * int(s.groups)
	case colRef:
		return int(s.refs)
	}
	return int(s.postings)
}

// numbers is how many numbers of 64 bits the block has.
func (s *shape) numbers() int {
	return 2*int(s.words) + int(s.folds) + int(s.groups) + 2*int(s.bounds)
}

// widthOf is the least width that holds a number.
func widthOf(n uint64) uint8 {
	w := uint8(0)
	for ; n > 0; n >>= 8 {
		w++
	}
	return w
}

// masks are by width.
var masks = [16]uint64{0, 1<<8 - 1, 1<<16 - 1, 1<<24 - 1, 1<<32 - 1, 1<<40 - 1, 1<<48 - 1, 1<<56 - 1, 1<<64 - 1}
