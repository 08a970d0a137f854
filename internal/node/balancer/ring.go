package balancer

import (
	"adshard/balance"
	"adshard/internal/node/wire"
	"adshard/schema/pb"
)

// ringSize is how many of the newest quanta are kept for distributors that ask
// for them: several seconds' worth.
const ringSize = 512

// ring is the newest quanta, one after another.
type ring struct {
	list   []*pb.Quantum
	newest uint64 // number; 0: there was none
}

func (r *ring) add(q balance.Quantum) {
	if len(r.list) >= 2*ringSize {
		r.list = append([]*pb.Quantum(nil), r.list[len(r.list)-ringSize:]...) // answers hold the old one
	}
	if q.Model != nil { // who needs it gets the newest model
		r.list = nil
	} else {
		r.list = append(r.list, wire.FromQuantum(q))
	}
	r.newest = q.Number
}

// after returns the quanta after one with this number; false: not all are
// there, or that one is none of them.
func (r *ring) after(number uint64) ([]*pb.Quantum, bool) {
	lack := r.newest - number
	if number == 0 || number > r.newest || lack > uint64(len(r.list)) {
		return nil, false
	}
	return r.list[uint64(len(r.list))-lack:], true
}
