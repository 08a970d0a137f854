package balance

import (
	"slices"
	"time"

	"adshard/barrels/certify"
)

// Bins is the number of parts by which certificates are compared.
const Bins = certify.Bins

// Sum is the number of some items and the sum, modulo 2¹²⁸, of the keyed 128-bit
// hashes of their content.
type Sum = certify.Sum

// Certificate describes one copy of an interval of keys.
type Certificate struct {
	// Clock is the clock up to which all changes are included; later ones may be.
	Clock uint64
	// Builder is the version that built the data; 0 if several did.
	Builder uint32
	// Items and Bytes are the size of the bins that were wanted.
	Items, Bytes uint64
	// Bins are those of the items only: an item's content includes the ids of its
	// parents, but not their content.
	Bins [Bins]Sum
	// Parents are those of the items in the bins wanted, and those wanted by name.
	Parents []ParentSum
}

// ParentSum is the hash of a parent's content; both halves are 0 if it is missing.
type ParentSum struct {
	Parent
	Hi, Lo uint64
}

// Bin returns the bin of an item.
func Bin(k Key) int { return certify.Bin(uint64(k)) }

// Certify asks for certificates of a part of a slice: of Target, the slave that
// it moves to or that is being checked, and of Source, the slave that it moves
// from, both of a state at or after Clock. After both, the source of truth
// is certified too, with the parents that they name, so that its clock is not
// below either slave's.
//
// Changing is set for a few items that change faster than the three can be read.
// The source of truth is then certified before, too: the slaves are asked for states
// at or after the first of these certificates, and it is certified again and again
// until both have answered.
type Certify struct {
	Seq        uint64
	Slice      uint64
	Generation uint64
	Lo, Hi     Key
	Clock      uint64
	// Wanted has bit i set for each bin that is still to be compared, and Parents
	// names those that are wanted besides, ascending.
	Wanted   uint64
	Parents  []Parent
	Changing bool
	// Weight is that of the items.
	Weight uint64
	// Alone is set when the question had no answer the last time: whatever the reason is, it must not
	// keep others from theirs.
	Alone bool
	// Needed is set when a slave waits to join a set or a slice has to leave its shard.
	Needed bool
	// Within is how long the answer may take.
	Within time.Duration
	// Source is "" when that slave is lost, or when the slice does not move.
	Source, Target string
}

// Certified answers a Certify. Failed is set when a certificate could not be
// obtained; the question is repeated.
type Certified struct {
	Seq uint64
	// Source is nil when none was asked for.
	Source, Target *Certificate
	Truth          Certificate
	// Before are certificates of the source of truth that were made before Truth,
	// if the question was Changing; their Parents are not used.
	Before []Certificate
	// Took is roughly the processor time that the answer took.
	Took   time.Duration
	Failed error
}

// Matches reports whether a bin of a slave's copy was right: equal to the source of
// truth's at some moment that is not before the copy's clock. A copy includes all
// changes up to its clock and, of items that changed later, some later state.
func (a *Certified) Matches(own *Certificate, bin int) bool {
	if own.Bins[bin] == a.Truth.Bins[bin] {
		return true
	}
	return slices.ContainsFunc(a.Before, func(t Certificate) bool {
		return t.Clock >= own.Clock && t.Bins[bin] == own.Bins[bin]
	})
}

// Discard orders a slave to stop serving a slice whose copy differs from the source
// of truth, so that it is refilled.
type Discard struct {
	Slave      string
	Slice      uint64
	Generation uint64
	Lo, Hi     Key
	Reason     string
}
