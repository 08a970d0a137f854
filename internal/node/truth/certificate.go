package truth

import (
	"slices"

	"adshard/balance"
	"adshard/barrels/index"
	"adshard/schema/pb"
)

// FromReply reads the certificate in a slave's reply. Bins that the reply omits are 0.
func (t *Certifier) FromReply(r *pb.CertifyResponse) *balance.Certificate {
	out := &balance.Certificate{Clock: r.GetClock(), Builder: r.GetBuilder(), Items: r.GetItems(), Bytes: r.GetBytes()}
	if out.Builder == index.AnyBuilder { // the slave has no data of another version
		out.Builder = t.Builders.version()
	}
	for _, p := range r.GetParents() {
		out.Parents = append(out.Parents, balance.ParentSum{
			Parent: balance.Parent{Kind: uint8(p.GetKind()), ID: p.GetId()}, Hi: p.GetHashHi(), Lo: p.GetHashLo(),
		})
	}
	for i := range out.Bins {
		if i < len(r.GetCounts()) && i < len(r.GetHashHi()) && i < len(r.GetHashLo()) {
			out.Bins[i] = balance.Sum{Count: r.Counts[i], Hi: r.HashHi[i], Lo: r.HashLo[i]}
		}
	}
	return out
}

// SameParents reports whether two lists have the same parents with the same content, in any order
// and without duplicates.
func SameParents(a, b []balance.ParentSum) bool {
	sums := make(map[balance.ParentSum]bool, len(a))
	for _, p := range a {
		sums[p] = true
	}
	return len(a) == len(b) && len(sums) == len(a) && !slices.ContainsFunc(b, func(p balance.ParentSum) bool { return !sums[p] })
}
