package certify

import (
	"encoding/binary"
	"math/bits"

	"github.com/cespare/xxhash/v2"
)

// Bins is the number of bins by which certificates are compared.
const Bins = 64

// Bin returns the bin of the item with a ring key.
func Bin(key uint64) int { return int(Mix(key) % Bins) }

// Mix spreads the bits of a number, one to one. It is the finaliser of SplitMix64 (Steele, Lea,
// Flood 2014; Stafford's variant 13).
func Mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

// Sum is the sum, modulo 2¹²⁸, of a keyed 128-bit hash of each group, and the number of groups.
type Sum struct{ Count, Hi, Lo uint64 }

// Add adds another sum.
func (s *Sum) Add(t Sum) {
	var carry uint64
	s.Lo, carry = bits.Add64(s.Lo, t.Lo, 0)
	s.Hi, _ = bits.Add64(s.Hi, t.Hi, carry)
	s.Count += t.Count
}

// Seeds of the two halves of each hash. Any two numbers would do.
const (
	seedHi = 0x6c62272e07bb0142
	seedLo = 0x27d4eb2f165667c5
)

// Hasher hashes one group after the other: call Begin, then Record for each keyword, then Sum.
type Hasher struct {
	hi, lo xxhash.Digest
	head   [16]byte
}

// Begin begins a group's hash.
func (h *Hasher) Begin(key uint64, record []byte) {
	h.hi.ResetWithSeed(seedHi)
	h.lo.ResetWithSeed(seedLo)
	h.numbers(key, uint64(len(record)))
	h.write(record)
}

// Record adds a keyword's record.
func (h *Hasher) Record(b []byte) {
	h.numbers(uint64(len(b)), 0)
	h.write(b)
}

// Sum returns the sum of the current group only.
func (h *Hasher) Sum() Sum {
	return Sum{Count: 1, Hi: h.hi.Sum64(), Lo: h.lo.Sum64()}
}

func (h *Hasher) numbers(a, b uint64) {
	binary.LittleEndian.PutUint64(h.head[:], a)
	binary.LittleEndian.PutUint64(h.head[8:], b)
	h.write(h.head[:])
}

func (h *Hasher) write(b []byte) {
	_, _ = h.hi.Write(b) // Write never fails
	_, _ = h.lo.Write(b)
}

// ParentHash is the hash of a parent's record.
type ParentHash [2]uint64

// Absent is the hash of a parent that is missing.
var Absent ParentHash

// HashParent returns the hash of a parent's stored record.
func HashParent(record []byte) ParentHash {
	var hi, lo xxhash.Digest
	hi.ResetWithSeed(seedHi)
	lo.ResetWithSeed(seedLo)
	_, _ = hi.Write(record) // Write never fails
	_, _ = lo.Write(record)
	return ParentHash{hi.Sum64(), lo.Sum64()}
}

// Faulty returns what a missing, different or extra posting with the given hash adds to its bin's
// sum. It depends on the posting, so that two faults do not cancel out.
func Faulty(hash uint64) Sum {
	return Sum{Hi: Mix(hash ^ seedHi), Lo: Mix(hash^seedLo) | 1}
}
