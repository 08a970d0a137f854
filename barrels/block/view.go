package block

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/cespare/xxhash/v2"

	"adshard/search"
)

// Format is the version of the bytes of a block; it stands behind them.
const Format = 2

// tail is the format byte and the checksum behind the FlatBuffers bytes.
const tail = 1 + 8

const devices = search.Devices

// Errors of Open.
var (
	errShort    = errors.New("block: too short")
	errFormat   = errors.New("block: another format version")
	errChecksum = errors.New("block: wrong checksum")
	errBroken   = errors.New("block: broken structure")
)

// View reads a block in place. Its methods may panic on an index out of range.
type View struct {
	b []byte // the value: eight bytes and more follow each element of a column
	shape
	trusted bool
	signed  *[]search.Signature // by Sign
	hashes  uint32              // where the numbers begin in b
	at      [columns]uint32     // where the columns begin in b
}

// Open points the view at a block's bytes, which must not change while it is
// used. It fails when the checksum or the structure is wrong.
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
	v.b = value
	return v.parse(value[:n])
}

// Move points the view at a copy of its bytes.
func (v *View) Move(value []byte) { v.b = value[:len(v.b):len(v.b)] }

// Bytes returns the block's value.
func (v *View) Bytes() []byte { return v.b }

// parse finds the vectors of the root table.
func (v *View) parse(b []byte) error {
	t := table{b: b, ok: true}
	t.open()
	numbers, n := t.vector(0, 8)
	cols, size := t.vector(1, 1)
	layout := t.inline(2, layoutSize)
	if !t.ok || layout == 0 || !v.read(b[layout:]) || n != v.numbers() || v.bounds != 1 && v.bounds != devices {
		return errBroken
	}
	v.hashes = uint32(numbers)
	at := cols
	for _, c := range order {
		v.at[c] = uint32(at)
		at += int(v.width[c]) * v.elements(c)
	}
	if at-cols > size {
		return errBroken
	}
	return nil
}

// order is that in which the columns lie.
var order = [columns]int{
	colID, colCampaign, colAdvertiser, colModifiers, colGroupFlags,
	colKeyword, colBid, colFirst, colGroup, colKind, colQuality, colFlags, colRef,
}

// get returns the i-th element of a column.
func (v *View) get(column, i int) uint64 {
	w := int(v.width[column])
	return u64(v.b, int(v.at[column])+w*i) & masks[w&15]
}

// number returns the i-th number of 64 bits.
func (v *View) number(i int) uint64 { return u64(v.b, int(v.hashes)+8*i) }

// Verify is Check without regard to Trust.
func (v *View) Verify() error {
	w := *v
	w.trusted = false
	return w.Check()
}

// Trust declares that an Encoder of this process made the bytes and that they stayed in memory, so
// that Check skips them.
func (v *View) Trust() { v.trusted = true }

// Equal reports whether two views are of the same bytes.
func (v *View) Equal(w *View) bool { return bytes.Equal(v.b, w.b) }

// Check walks all postings: every index within its vector, postings sorted by
// group key and keyword. Open does not, for speed; readers that go on to write
// do.
func (v *View) Check() error {
	if v.trusted {
		return nil
	}
	var key, keyword uint64
	for i := range v.Len() {
		g, first, count := v.GroupOf(i), int(v.get(colFirst, i)), v.count(i)
		if g >= v.Groups() || first+count > int(v.refs) || v.Type(i) >= search.MatchTypes {
			return errBroken
		}
		k, id := v.GroupKey(g), v.Keyword(i)
		if i > 0 && (k < key || k == key && id <= keyword) {
			return errBroken
		}
		key, keyword = k, id
	}
	for i := range int(v.refs) {
		if int(v.get(colRef, i)) >= v.Words() {
			return errBroken
		}
	}
	return nil
}

// Signature computes the signature of posting i. It fails when the posting has
// words that are not there.
func (v *View) Signature(i int) (s search.Signature, err error) {
	first, count := int(v.get(colFirst, i)), v.count(i)
	if first+count > int(v.refs) {
		return 0, errBroken
	}
	for at := first; at < first+count; at++ {
		w := int(v.get(colRef, at))
		if w >= v.Words() {
			return 0, errBroken
		}
		s |= search.SignatureOf(v.number(int(v.words) + w))
	}
	return s, nil
}

// Sign computes the signatures, one for each posting. It fails when a posting has
// words that are not there.
func (v *View) Sign() error {
	if v.signed == nil {
		v.signed = new([]search.Signature)
	}
	*v.signed = (*v.signed)[:0]
	for i := range v.Len() {
		s, err := v.Signature(i)
		if err != nil {
			return err
		}
		*v.signed = append(*v.signed, s)
	}
	return nil
}

// Signatures returns one signature for each posting, as Sign computed them.
func (v *View) Signatures() []search.Signature { return *v.signed }

// Words is the number of words in the block's vocabulary.
func (v *View) Words() int { return int(v.words) }

// Word returns the i-th word's hashes and its term in the block's language.
func (v *View) Word(i int) (norm, fold, term uint64) {
	n := int(v.words)
	norm, term = v.Norm(i), v.number(n+i)
	if alike := n - int(v.folds); i >= alike {
		return norm, v.number(2*n + i - alike), term
	}
	return norm, norm, term
}

// Norm returns the hash of the i-th word as normalised.
func (v *View) Norm(i int) uint64 { return v.number(i) }

// Len is the number of postings.
func (v *View) Len() int { return int(v.postings) }

func (v *View) count(i int) int { return int(v.b[int(v.at[colKind])+i] >> 4) }

// Refs are the words of a posting in order, as indexes of the block's vocabulary.
type Refs struct {
	b    []byte // at the first, with bytes behind the last
	n    int
	wide bool // two bytes each
}

// Len is the number of words.
func (r Refs) Len() int { return r.n }

// At returns the index of the i-th word.
func (r Refs) At(i int) int {
	if r.wide {
		return int(u16(r.b, 2*i))
	}
	return int(r.b[i])
}

// Key returns bytes that are equal for the same words of one block.
func (r Refs) Key() []byte { return r.b }

// Posting returns posting i's match type and its words.
func (v *View) Posting(i int) (search.MatchType, Refs) {
	kind := v.b[int(v.at[colKind])+i]
	n, w := int(kind>>4), int(v.width[colRef])
	first := int(v.at[colRef]) + w*int(v.get(colFirst, i))
	return search.MatchType(kind & 15), Refs{b: v.b[first : first+w*n : first+w*n], n: n, wide: w == 2}
}

// Keyword returns the id of posting i.
func (v *View) Keyword(i int) uint64 { return v.get(colKeyword, i) }

// Detail returns what decides posting i's eligibility and score.
func (v *View) Detail(i int) (keyword, bid uint64, group int, quality, flags uint8) {
	return v.get(colKeyword, i), v.get(colBid, i), v.GroupOf(i), v.Quality(i), v.Flags(i)
}

// Type returns the match type of posting i.
func (v *View) Type(i int) search.MatchType {
	return search.MatchType(v.b[int(v.at[colKind])+i] & 15)
}

// Quality returns the quality of posting i.
func (v *View) Quality(i int) uint8 { return v.b[int(v.at[colQuality])+i] }

// Flags returns the flags of posting i.
func (v *View) Flags(i int) uint8 { return v.b[int(v.at[colFlags])+i] }

// Key returns the place of posting i in the order of a term's postings.
func (v *View) Key(i int) (group, keyword uint64) { return v.GroupKey(v.GroupOf(i)), v.Keyword(i) }

// GroupOf returns the index of posting i's group.
func (v *View) GroupOf(i int) int { return int(v.get(colGroup, i)) }

// Bound returns the bound on a device.
func (v *View) Bound(d search.Device) Bound {
	at := v.numbers() - 2
	if v.bounds > 1 {
		at -= 2 * (devices - 1 - int(d))
	}
	return Bound{Own: v.number(at), Inherited: v.number(at + 1)}
}

// Live is the number of postings that are enabled in an enabled group with an
// enabled ad.
func (v *View) Live() int { return int(v.live) }

func u64(b []byte, at int) uint64 { return binary.LittleEndian.Uint64(b[at:]) }
func u32(b []byte, at int) uint32 { return binary.LittleEndian.Uint32(b[at:]) }
func u16(b []byte, at int) uint16 { return binary.LittleEndian.Uint16(b[at:]) }
