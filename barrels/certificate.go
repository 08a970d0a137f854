package barrels

import (
	"cmp"

	"adshard/barrels/certify"
	"adshard/schema/pb"
)

// Certificate describes the contents of a store in an interval of keys.
type Certificate struct {
	// Clock is the clock of the newest change that the store contains; it contains
	// every change up to it. Mark is that change's mark.
	Clock, Mark uint64
	// Builder is the version of the code that built the store's data, or 0 if several versions did.
	Builder uint32
	// Held reports whether the table of slices says that the store holds all of the
	// interval.
	Held bool
	// Items is the number of groups in the requested bins. Bytes is the size of
	// their records and of their keywords' records.
	Items, Bytes uint64
	// Bins are the sums by bin; bins that were not requested are zero. A group of which searches
	// find everything adds the hash of its records (certify.Hasher).
	Bins [certify.Bins]certify.Sum
	// Parents are the requested parents and those of the groups in the requested bins, by ascending
	// kind and id.
	Parents []ParentSum
}

// ParentSum is the hash of a campaign's or an advertiser's record
// (certify.ParentHash); both halves are 0 if the store has no such record.
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

// Kinds of parents on the wire, numbered like backend.Kind.
const (
	KindAdvertiser = 1
	KindCampaign   = 2
)

// Message returns the certificate in its wire form.
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
