package barrels

import (
	"encoding/binary"
	"math/bits"

	"adshard/fault"
	"adshard/schema/pb"

	"github.com/cespare/xxhash/v2"
	"google.golang.org/protobuf/proto"
)

// Bins is the number of parts by which certificates are compared.
const Bins = 64

// Bin returns the bin of the group with this ring key; package balance has the
// same function.
func Bin(key uint64) int { return int(mix64(key) % Bins) }

// mix64 spreads the bits of a number, one to one.
func mix64(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

// Sum is the sum, modulo 2¹²⁸, of one keyed 128-bit hash for each of some
// groups, and how many they are.
type Sum struct{ Count, Hi, Lo uint64 }

// Add adds another sum.
func (s *Sum) Add(t Sum) {
	var carry uint64
	s.Lo, carry = bits.Add64(s.Lo, t.Lo, 0)
	s.Hi, _ = bits.Add64(s.Hi, t.Hi, carry)
	s.Count += t.Count
}

// ItemSum is what a store that holds a group as it should adds to its
// certificate (Store.Certify) for it: a hash of the group's key, its record,
// with which parents it has, and its keywords' records. Errors: fault.Invalid
// for records that cannot be written.
func ItemSum(it *pb.Item) (Sum, error) {
	var h hasher
	var scratch []byte
	var err error
	record := func(m proto.Message) []byte {
		if err == nil {
			scratch, err = marshal.MarshalAppend(scratch[:0], m)
		}
		return scratch
	}
	h.begin(it.GetGroup().GetKey(), record(it.GetGroup()))
	for _, k := range it.GetKeywords() {
		h.record(record(k))
	}
	return h.end(), fault.New(fault.Invalid, "barrels: sum", err)
}

// ParentHash is what a store that holds a parent as it should gives for it in a
// certificate: a 128-bit hash of its record, a pb.Campaign or pb.Advertiser.
// Errors: fault.Invalid for a record that cannot be written.
func ParentHash(m proto.Message) (hi, lo uint64, err error) {
	raw, err := marshal.Marshal(m)
	if err != nil {
		return 0, 0, fault.New(fault.Invalid, "barrels: sum", err)
	}
	h := hashParent(raw)
	return h[0], h[1], nil
}

// Seeds of the two halves of each hash: any two numbers.
const (
	seedHi = 0x6c62272e07bb0142
	seedLo = 0x27d4eb2f165667c5
)

// hasher makes the hash of one group after the other.
type hasher struct {
	hi, lo xxhash.Digest
	head   [16]byte
}

// begin starts a group's hash.
func (h *hasher) begin(key uint64, record []byte) {
	h.hi.ResetWithSeed(seedHi)
	h.lo.ResetWithSeed(seedLo)
	h.numbers(key, uint64(len(record)))
	h.write(record)
}

// record adds a keyword's record.
func (h *hasher) record(b []byte) {
	h.numbers(uint64(len(b)), 0)
	h.write(b)
}

// end returns the group's hash.
func (h *hasher) end() Sum {
	return Sum{Count: 1, Hi: h.hi.Sum64(), Lo: h.lo.Sum64()}
}

func (h *hasher) numbers(a, b uint64) {
	binary.LittleEndian.PutUint64(h.head[:], a)
	binary.LittleEndian.PutUint64(h.head[8:], b)
	h.write(h.head[:])
}

func (h *hasher) write(b []byte) {
	_, _ = h.hi.Write(b) // it never fails
	_, _ = h.lo.Write(b)
}

// parentHash is the hash of a parent's record.
type parentHash [2]uint64

// absent stands for a parent that is not there.
var absent parentHash

func hashParent(record []byte) parentHash {
	var hi, lo xxhash.Digest
	hi.ResetWithSeed(seedHi)
	lo.ResetWithSeed(seedLo)
	_, _ = hi.Write(record) // it never fails
	_, _ = lo.Write(record)
	return parentHash{hi.Sum64(), lo.Sum64()}
}
