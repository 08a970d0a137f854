package balancer

import (
	"adshard/balance"
	"adshard/internal/node/wire"
	"adshard/schema/pb"
)

// recentQuantaSize is how many of the newest quanta are kept for distributors: those of
// several seconds.
const recentQuantaSize = 512

// recentQuanta holds the newest quanta, in order.
type recentQuanta struct {
	list   []*pb.Quantum
	newest uint64 // number, or 0 if there is none
}

func (r *recentQuanta) add(q balance.Quantum) {
	if len(r.list) >= 2*recentQuantaSize {
		r.list = append([]*pb.Quantum(nil), r.list[len(r.list)-recentQuantaSize:]...) // answers share the old array
	}
	if q.Model != nil { // distributors that need a model get the newest
		r.list = nil
	} else {
		r.list = append(r.list, wire.FromQuantum(q))
	}
	r.newest = q.Number
}

// after returns the quanta after the one with this number; false if any of them is
// no longer there.
func (r *recentQuanta) after(number uint64) ([]*pb.Quantum, bool) {
	lack := r.newest - number
	if number == 0 || number > r.newest || lack > uint64(len(r.list)) {
		return nil, false
	}
	return r.list[uint64(len(r.list))-lack:], true
}
