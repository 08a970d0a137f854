package block

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/cespare/xxhash/v2"
	flatbuffers "github.com/google/flatbuffers/go"

	"adshard/schema/fb"
	"adshard/search"
)

// Format is the version of a block's bytes, which it follows.
const Format = 3

// tail is the size of the format byte and the checksum after the FlatBuffers bytes.
const tail = 1 + 8

const devices = search.Devices

// Errors of Open.
var (
	errShort    = errors.New("block: too short")
	errFormat   = errors.New("block: another format version")
	errChecksum = errors.New("block: wrong checksum")
	errBroken   = errors.New("block: broken structure")
)

// View reads a block in place. Its methods may panic if an index is out of range.
type View struct {
	b      []byte              // FlatBuffers bytes; format and checksum follow them
	signed *[]search.Signature // set by Sign

	root                    uint32 // offset of the root table
	words, groups, postings rows
	references              rows
	folds                   uint16 // number of words whose folded form has another hash, which come last
	trusted                 bool
}

// rows is a vector of the root table.
type rows struct {
	at   uint32 // offset of its first element
	n    uint16 // number of elements
	size uint16 // size of an element in bytes
}

// place returns the offset of the i-th element.
func (r rows) place(i int) flatbuffers.UOffsetT {
	return flatbuffers.UOffsetT(int(r.at) + int(r.size)*i)
}

// Sizes of elements in bytes.
const (
	wordSize        = 16
	groupSize       = 24
	wideGroupSize   = 40
	modifiersSize   = 6
	postingSize     = 16
	widePostingSize = 24
)

// Open points the view at a block's bytes, which must not change while the view is used. It returns
// an error if the checksum or the structure is wrong.
func (v *View) Open(value []byte) error {
	v.trusted = false
	n := len(value) - tail
	if n < 8 {
		return errShort
	}
	if xxhash.Sum64(value[:n+1]) != binary.LittleEndian.Uint64(value[n+1:]) {
		return errChecksum
	}
	if value[n] != Format {
		return errFormat
	}
	v.b = value[:n:len(value)]
	return v.parse()
}

// Move points the view at another copy of the same bytes.
func (v *View) Move(value []byte) { v.b = value[:len(v.b):len(value)] }

// Bytes returns the block's value.
func (v *View) Bytes() []byte { return v.b[:len(v.b)+tail] }

// table returns the root table.
func (v *View) table() (root fb.Block) {
	root.Init(v.b, flatbuffers.UOffsetT(v.root))
	return root
}

// parse finds the vectors. Generated code does not check offsets: it panics if one leads out of the
// bytes.
func (v *View) parse() (err error) {
	defer func() {
		if recover() != nil {
			err = errBroken
		}
	}()
	v.root = uint32(flatbuffers.GetUOffsetT(v.b))
	root := v.table()
	v.findWords(&root)
	v.findGroups(&root)
	v.findPostings(&root)
	v.findReferences(&root)
	for d := range search.Device(devices) {
		v.Bound(d)
	}
	if v.Live() > v.Len() || v.Len() == 0 {
		return errBroken
	}
	return nil
}

// found returns a vector of n elements. It panics if n is above `most` or the vector is not within
// the block's bytes.
func (v *View) found(first flatbuffers.UOffsetT, n, size, most int) rows {
	if n > most || int(first)+n*size > len(v.b) {
		panic(errBroken)
	}
	return rows{at: uint32(first), n: uint16(n), size: uint16(size)}
}

// Verify is Check even if the view is trusted.
func (v *View) Verify() error {
	w := *v
	w.trusted = false
	return w.Check()
}

// Trust declares that an Encoder of this process made the bytes and that they stayed in memory, so
// Check can skip them.
func (v *View) Trust() { v.trusted = true }

// Equal reports whether two views have the same bytes.
func (v *View) Equal(w *View) bool { return bytes.Equal(v.b, w.b) }

// Check checks all postings: every index must be within its vector, and postings must be sorted by
// group key and keyword. For speed, Open does not do this; readers that go on to write do.
func (v *View) Check() error {
	if v.trusted {
		return nil
	}
	var key, keyword uint64
	for i := range v.Len() {
		if _, err := v.Signature(i); err != nil || v.GroupOf(i) >= v.Groups() || v.Type(i) >= search.MatchTypes {
			return errBroken
		}
		k, id := v.Key(i)
		if i > 0 && (k < key || k == key && id <= keyword) {
			return errBroken
		}
		key, keyword = k, id
	}
	return nil
}

// Bound returns the bound on a device.
func (v *View) Bound(d search.Device) Bound {
	root := v.table()
	var own, all fb.Bound
	b := root.Bound(&all)
	switch {
	case d == search.Mobile && root.Mobile(&own) != nil, d == search.Tablet && root.Tablet(&own) != nil:
		b = &own
	case b == nil:
		return Bound{}
	}
	return Bound{Own: b.Own(), Inherited: b.Inherited()}
}

// Live returns the number of enabled postings in enabled groups with an enabled ad.
func (v *View) Live() int {
	root := v.table()
	return int(root.Live())
}
