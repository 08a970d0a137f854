package block

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/cespare/xxhash/v2"

	"adshard/search"
)

// Format is the version of the bytes of a block; it stands behind them.
const Format = 1

// tail is the format byte and the checksum behind the FlatBuffers bytes.
const tail = 1 + 8

// Sizes of the structs of block.fbs.
const (
	wordSize    = 24
	groupSize   = 40
	postingSize = 24
	boundSize   = 16
)

// Errors of Open.
var (
	errShort    = errors.New("block: too short")
	errFormat   = errors.New("block: another format version")
	errChecksum = errors.New("block: wrong checksum")
	errBroken   = errors.New("block: broken structure")
)

// View reads a block in place. Its methods may panic on an index out of range.
type View struct {
	words, groups, postings, refs, bounds []byte
	live                                  uint32
	trusted                               bool
	signatures                            []search.Signature
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
	return v.parse(value[:n])
}

// parse finds the vectors of the root table.
func (v *View) parse(b []byte) error {
	t := table{b: b, ok: true}
	t.open()
	v.words = t.vector(0, wordSize)
	v.groups = t.vector(1, groupSize)
	v.postings = t.vector(2, postingSize)
	v.refs = t.vector(3, 2)
	v.bounds = t.vector(4, boundSize)
	v.live = t.scalar(5)
	if !t.ok || len(v.bounds) != search.Devices*boundSize || len(v.postings) == 0 {
		return errBroken
	}
	return nil
}

// Verify is Check, whoever has made the bytes.
func (v *View) Verify() error {
	w := *v
	w.trusted = false
	return w.Check()
}

// Trust declares that the bytes are as an Encoder has made them and have not left
// memory since: Check will not look at them.
func (v *View) Trust() { v.trusted = true }

// Equal reports whether two views are of the same bytes, as far as they are
// read.
func (v *View) Equal(w *View) bool {
	return bytes.Equal(v.words, w.words) && bytes.Equal(v.groups, w.groups) && bytes.Equal(v.postings, w.postings) &&
		bytes.Equal(v.refs, w.refs) && bytes.Equal(v.bounds, w.bounds) && v.live == w.live
}

// Check walks all postings: every index within its vector, postings sorted by
// group key and keyword. Open does not, for speed; readers that go on to write
// do.
func (v *View) Check() error {
	if v.trusted {
		return nil
	}
	var key, keyword uint64
	groups, refs := len(v.groups)/groupSize, len(v.refs)/2
	for i := range v.Len() {
		p := v.posting(i)
		first, g, count := int(u16(p, 16)), int(u16(p, 18)), int(p[20])
		if g >= groups || first+count > refs || p[22] >= search.MatchTypes {
			return errBroken
		}
		k, id := v.GroupKey(g), v.Keyword(i)
		if i > 0 && (k < key || k == key && id <= keyword) {
			return errBroken
		}
		key, keyword = k, id
	}
	for i := range refs {
		if int(u16(v.refs, 2*i)) >= v.Words() {
			return errBroken
		}
	}
	return nil
}

// Sign computes the signatures, one for each posting. It fails when a posting has
// words that are not there.
func (v *View) Sign() (err error) {
	v.signatures = v.signatures[:0]
	for i := range v.Len() {
		s, err := v.Signature(i)
		if err != nil {
			return err
		}
		v.signatures = append(v.signatures, s)
	}
	return nil
}

// Signature computes the signature of posting i. It fails when the posting has
// words that are not there.
func (v *View) Signature(i int) (s search.Signature, err error) {
	p := v.posting(i)
	first := 2 * int(u16(p, 16))
	last := first + 2*int(p[20])
	if last > len(v.refs) {
		return 0, errBroken
	}
	for at := first; at < last; at += 2 {
		w := wordSize * int(u16(v.refs, at))
		if w >= len(v.words) {
			return 0, errBroken
		}
		s |= search.SignatureOf(u64(v.words, w+16))
	}
	return s, nil
}

// Signatures returns one signature for each posting, as Sign computed them.
func (v *View) Signatures() []search.Signature { return v.signatures }

// Words is the number of words in the block's vocabulary.
func (v *View) Words() int { return len(v.words) / wordSize }

// Word returns the i-th word's hashes and its term in the block's language.
func (v *View) Word(i int) (norm, fold, term uint64) {
	w := v.words[i*wordSize : i*wordSize+wordSize]
	return u64(w, 0), u64(w, 8), u64(w, 16)
}

// Len is the number of postings.
func (v *View) Len() int { return len(v.postings) / postingSize }

// Posting returns posting i's match type and the vocabulary indexes of its words.
func (v *View) Posting(i int) (search.MatchType, []byte) {
	p := v.posting(i)
	first := 2 * int(u16(p, 16))
	return search.MatchType(p[22]), v.refs[first : first+2*int(p[20])]
}

// Keyword returns the id of posting i.
func (v *View) Keyword(i int) uint64 { return u64(v.posting(i), 0) }

// Detail returns what decides posting i's eligibility and score.
func (v *View) Detail(i int) (keyword, bid uint64, group int, quality, flags uint8) {
	p := v.posting(i)
	return u64(p, 0), u64(p, 8), int(u16(p, 18)), p[21], p[23]
}

// Type returns the match type of posting i.
func (v *View) Type(i int) search.MatchType { return search.MatchType(v.postings[i*postingSize+22]) }

// Quality returns the quality of posting i.
func (v *View) Quality(i int) uint8 { return v.postings[i*postingSize+21] }

// Flags returns the flags of posting i.
func (v *View) Flags(i int) uint8 { return v.postings[i*postingSize+23] }

// Groups is the number of groups.
func (v *View) Groups() int { return len(v.groups) / groupSize }

// GroupKey returns the ring key of the g-th group.
func (v *View) GroupKey(g int) uint64 { return u64(v.groups, g*groupSize) }

// GroupID returns the id of the g-th group.
func (v *View) GroupID(g int) uint64 { return u64(v.groups, g*groupSize+8) }

// GroupParents returns the ids of the g-th group's campaign and advertiser.
func (v *View) GroupParents(g int) (campaign, advertiser uint64) {
	b := v.groups[g*groupSize : g*groupSize+groupSize]
	return u64(b, 16), u64(b, 24)
}

// GroupFlags returns the flags of the g-th group.
func (v *View) GroupFlags(g int) uint16 { return u16(v.groups, g*groupSize+38) }

// GroupModifier returns the modifier of the g-th group on a device, or NotSet.
func (v *View) GroupModifier(g int, d search.Device) uint16 {
	return u16(v.groups, g*groupSize+32+2*int(d))
}

// Group reads the g-th group.
func (v *View) Group(g int) Group {
	b := v.groups[g*groupSize : g*groupSize+groupSize]
	return Group{
		Key: u64(b, 0), ID: u64(b, 8), Campaign: u64(b, 16), Advertiser: u64(b, 24),
		Modifiers: [search.Devices]uint16{u16(b, 32), u16(b, 34), u16(b, 36)},
		Flags:     u16(b, 38),
	}
}

// Key returns the place of posting i in the order of a term's postings.
func (v *View) Key(i int) (group, keyword uint64) {
	p := v.posting(i)
	return v.GroupKey(int(u16(p, 18))), u64(p, 0)
}

// GroupOf returns the index of posting i's group.
func (v *View) GroupOf(i int) int { return int(u16(v.postings, i*postingSize+18)) }

// Bound returns the bound on a device.
func (v *View) Bound(d search.Device) Bound {
	b := v.bounds[int(d)*boundSize:]
	return Bound{Own: u64(b, 0), Inherited: u64(b, 8)}
}

// Live is the number of postings that are enabled in an enabled group with an
// enabled ad.
func (v *View) Live() int { return int(v.live) }

func (v *View) posting(i int) []byte {
	return v.postings[i*postingSize : i*postingSize+postingSize]
}

func u64(b []byte, at int) uint64 { return binary.LittleEndian.Uint64(b[at:]) }
func u32(b []byte, at int) uint32 { return binary.LittleEndian.Uint32(b[at:]) }
func u16(b []byte, at int) uint16 { return binary.LittleEndian.Uint16(b[at:]) }
