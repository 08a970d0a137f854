package barrels

import (
	"cmp"

	"adshard/barrels/certify"
	"adshard/schema/pb"
)

// Certificate says what a store has of an interval of keys.
type Certificate struct {
	// Clock: all changes up to it are in, no later ones. Mark is that of the change
	// at it.
	Clock, Mark uint64
	// Builder is the version of what built all data of the store; 0: they are of
	// several versions.
	Builder uint32
	// Held: the table of slices says that all of the interval is there.
	Held bool
	// Items is the number of groups in the bins wanted, Bytes the size of their
	// records and their keywords'.
	Items, Bytes uint64
	// Bins are the sums by bin, 0 for those not wanted. A group that searches
	// would find whole adds ItemSum of its records.
	Bins [certify.Bins]certify.Sum
	// Parents are those that the groups of the bins wanted name, and those asked
	// for by name, by rising kind and id.
	Parents []ParentSum
}

// ParentSum is the hash of a campaign's or an advertiser's record (ParentHash);
// both halves 0: it is not there.
type ParentSum struct {
	Parent
	Hi, Lo uint64
}

// Parent names a campaign or an advertiser.
type Parent struct {
	Campaign bool
	ID       uint64
}

func (p Parent) compare(q Parent) int {
	if p.Campaign != q.Campaign {
		if q.Campaign {
			return -1
		}
		return 1
	}
	return cmp.Compare(p.ID, q.ID)
}

// Kinds of parents on the wire (backend.Kind).
const (
	KindAdvertiser = 1
	KindCampaign   = 2
)

// Message returns the certificate as it goes over the wire.
func (c *Certificate) Message() *pb.CertifyResponse {
	out := &pb.CertifyResponse{Clock: c.Clock, Mark: c.Mark, Builder: c.Builder, Items: c.Items, Bytes: c.Bytes}
	for _, p := range c.Parents {
		kind := uint32(KindAdvertiser)
		if p.Campaign {
			kind = KindCampaign
		}
		out.Parents = append(out.Parents, &pb.ParentSum{Kind: kind, Id: p.ID, HashHi: p.Hi, HashLo: p.Lo})
	}
	for _, sum := range c.Bins {
		out.Counts = append(out.Counts, sum.Count)
		out.HashHi = append(out.HashHi, sum.Hi)
		out.HashLo = append(out.HashLo, sum.Lo)
	}
	return out
}
