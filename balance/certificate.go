package balance

// Bins is the number of parts by which certificates are compared: an item's bin
// is the lowest bits of a mix of its key.
const Bins = 64

// Sum is the sum of the keyed 128-bit hashes, modulo 2¹²⁸, of some items with
// all their content, and how many they are.
type Sum struct{ Count, Hi, Lo uint64 }

// Certificate says what somebody has of an interval of keys.
type Certificate struct {
	// Clock: all changes up to it are in. Later ones may be.
	Clock uint64
	// Items and Bytes are the size of the bins that were wanted.
	Items, Bytes uint64
	Bins         [Bins]Sum
}

// Bin returns the bin of an item.
func Bin(k Key) int { return int(mix64(uint64(k)) % Bins) }

// Certify asks for certificates of a slice on its way: of Source and Target,
// the two nodes, both of a state at or after Clock, and only after both are
// there one of the source of truth, so that its clock is above all that the
// nodes may have.
type Certify struct {
	Seq        uint64
	Slice      uint64
	Generation uint64
	Lo, Hi     Key
	Clock      uint64
	// Wanted has bit i set for each bin that is still to be compared.
	Wanted uint64
	// Source is "" when that node is lost.
	Source, Target string
}

// Certified answers a Certify. Failed is set when one could not be had; it is
// asked again.
type Certified struct {
	Seq uint64
	// Source is nil when none was asked for.
	Source, Target *Certificate
	Truth          Certificate
	Failed         error
}
