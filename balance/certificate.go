package balance

import (
	"time"

	"adshard/barrels/certify"
)

// Bins is the number of parts by which certificates are compared.
const Bins = certify.Bins

// Sum is the sum of the keyed hashes of some items with all their content, and
// their number.
type Sum = certify.Sum

// Certificate says what somebody has of an interval of keys.
type Certificate struct {
	// Clock: all changes up to it are in. Later ones may be.
	Clock uint64
	// Builder is the version of what built the data; 0: it is of several.
	Builder uint32
	// Items and Bytes are the size of the bins that were wanted.
	Items, Bytes uint64
	// Bins are of the items alone: which parents an item has belongs to its
	// content, what its parents are does not.
	Bins [Bins]Sum
	// Parents are those of the items in the bins wanted, and those wanted by name.
	Parents []ParentSum
}

// ParentSum is the hash of a parent's content; both halves 0: it is not there.
type ParentSum struct {
	Parent
	Hi, Lo uint64
}

// Bin returns the bin of an item.
func Bin(k Key) int { return certify.Bin(uint64(k)) }

// Certify asks for certificates of a part of a slice: of Target, the node that
// it moves to or that is looked at, and of Source, the node that it moves from;
// both of a state at or after Clock, and only after both are there one of the
// source of truth, of the parents that they name, so that its clock is above all
// that the nodes may have.
type Certify struct {
	Seq        uint64
	Slice      uint64
	Generation uint64
	Lo, Hi     Key
	Clock      uint64
	// Wanted has bit i set for each bin that is still to be compared, and Parents
	// names those that are wanted besides, rising.
	Wanted  uint64
	Parents []Parent
	// Source is "" when that node is lost, or when the slice does not move.
	Source, Target string
}

// Certified answers a Certify. Failed is set when one could not be had; it is
// asked again.
type Certified struct {
	Seq uint64
	// Source is nil when none was asked for.
	Source, Target *Certificate
	Truth          Certificate
	// Took is about how much time of a processor the answer took.
	Took   time.Duration
	Failed error
}

// Discard orders a node to stop serving a slice of which it has something else
// than the source of truth, so that it is filled again.
type Discard struct {
	Node       string
	Slice      uint64
	Generation uint64
	Lo, Hi     Key
	Reason     string
}
