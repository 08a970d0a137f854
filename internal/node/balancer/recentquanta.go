package balancer

import (
	"adshard/balance"
	"adshard/internal/node/wire"
	"adshard/schema/pb"
)

// recentQuantaSize is the number of newest quanta that are kept for distributors. They cover
// several seconds.
const recentQuantaSize = 512

// recentQuanta holds the newest quanta, in order.
type recentQuanta struct {
	list   []*pb.Quantum
	newest uint64 // its number, or 0 if there is none
}

func (r *recentQuanta) add(q balance.Quantum) {
	if len(r.list) >= 2*recentQuantaSize {
		r.list = append([]*pb.Quantum(nil), r.list[len(r.list)-recentQuantaSize:]...) // a copy, since answers share the old array
	}
	if q.Model != nil { // distributors that need a model get the newest one
		r.list = nil
	} else {
		r.list = append(r.list, wire.FromQuantum(q))
	}
	r.newest = q.Number
}

// after returns the quanta that follow the one with this number, or false if any of them is no
// longer kept.
func (r *recentQuanta) after(number uint64) ([]*pb.Quantum, bool) {
	lack := r.newest - number
	if number == 0 || number > r.newest || lack > uint64(len(r.list)) {
		return nil, false
	}
	return r.list[uint64(len(r.list))-lack:], true
}
