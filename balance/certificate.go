package balance

import (
	"slices"
	"time"

	"adshard/barrels/certify"
)

// Bins is the number of bins into which a certificate divides the items.
const Bins = certify.Bins

// Sum is a number of items, with the sum, modulo 2¹²⁸, of the keyed 128-bit hashes of
// their content.
type Sum = certify.Sum

// Certificate describes a copy of an interval of keys, so that copies can be compared.
type Certificate struct {
	// Clock is a clock up to which the copy has all changes. It may have later ones.
	Clock uint64
	// Builder is the version of the program that built the data, or 0 if several
	// versions did.
	Builder uint32
	// Items and Bytes are the number and size of the items in the bins that were asked
	// for.
	Items, Bytes uint64
	// Bins covers only the items: the content of an item includes the ids of its
	// parents, but not their content.
	Bins [Bins]Sum
	// Parents has the parents of the items in the bins that were asked for, and the
	// parents asked for by name.
	Parents []ParentSum
}

// ParentSum is the hash of a parent's content; both halves are 0 if the parent is
// missing.
type ParentSum struct {
	Parent
	Hi, Lo uint64
}

// Bin returns the bin of an item.
func Bin(k Key) int { return certify.Bin(uint64(k)) }

// Certify asks for certificates of a part of a slice: from Target, the slave to which
// the slice moves or that is being checked, and from Source, the slave from which it
// moves. Both must have all changes up to Clock. After both have answered, the source
// of truth is certified too, with the parents that they named, so that its clock is not
// below theirs.
//
// Changing is set for a few items that change faster than the three copies can be read.
// Then the source of truth is also certified first: the slaves are asked for states at
// or after that certificate, and the source of truth is certified again and again until
// both have answered.
type Certify struct {
	Seq        uint64
	Slice      uint64
	Generation uint64
	Lo, Hi     Key
	Clock      uint64
	// Wanted has bit i set for each bin i that is still to be compared. Parents names
	// the parents that are asked for in addition, in ascending order.
	Wanted   uint64
	Parents  []Parent
	Changing bool
	// Weight is the weight of the items.
	Weight uint64
	// Alone is set if the question was not answered the last time. It is then asked by
	// itself, so that whatever the reason is, it does not delay the answers to others.
	Alone bool
	// Needed is set if a slave waits to join a set, or a slice has to leave its shard.
	Needed bool
	// Within is how long the answer may take.
	Within time.Duration
	// Source is "" if that slave is lost, or if the slice does not move.
	Source, Target string
}

// Certified is the answer to a Certify. Failed is set if a certificate could not be
// obtained; then the question is repeated.
type Certified struct {
	Seq uint64
	// Source is nil if no certificate of it was asked for.
	Source, Target *Certificate
	Truth          Certificate
	// Before has the certificates of the source of truth that were made before Truth,
	// if the question was Changing. Their Parents are not used.
	Before []Certificate
	// Took is roughly the processor time spent on the answer.
	Took   time.Duration
	Failed error
}

// Matches reports whether a bin of a slave's copy was right: whether it equals the bin
// of the source of truth at some moment not before the copy's clock. A copy has all
// changes up to its clock; of items that changed later, it has some later state.
func (a *Certified) Matches(own *Certificate, bin int) bool {
	if own.Bins[bin] == a.Truth.Bins[bin] {
		return true
	}
	return slices.ContainsFunc(a.Before, func(t Certificate) bool {
		return t.Clock >= own.Clock && t.Bins[bin] == own.Bins[bin]
	})
}

// Discard orders a slave to stop serving a slice whose copy differs from the source of
// truth, and so to be filled with it again.
type Discard struct {
	Slave      string
	Slice      uint64
	Generation uint64
	Lo, Hi     Key
	Reason     string
}
