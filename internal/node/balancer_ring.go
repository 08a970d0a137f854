package node

import (
	"adshard/balance"
	"adshard/schema/pb"
)

// ringSize is how many of the newest quanta are kept for distributors that ask
// for them: several seconds' worth.
const ringSize = 512

// ring is the newest quanta, one after another.
type ring struct {
	list   []*pb.Quantum
	newest balance.Quantum // without Model; Number 0: there was none
}

func (r *ring) add(q balance.Quantum) {
	if len(r.list) >= 2*ringSize {
		r.list = append(r.list[:0], r.list[len(r.list)-ringSize:]...)
	}
	message := quantumPB(q)
	if q.Model != nil { // who needs it gets the newest model
		r.list = r.list[:0]
	} else {
		r.list = append(r.list, message)
	}
	q.Model, q.Ops = nil, nil
	r.newest = q
}

// after returns the quanta after one with this number; false: not all are
// there, or that one is none of them.
func (r *ring) after(number uint64) ([]*pb.Quantum, bool) {
	lack := r.newest.Number - number
	if number == 0 || number > r.newest.Number || lack > uint64(len(r.list)) {
		return nil, false
	}
	return r.list[uint64(len(r.list))-lack:], true
}
