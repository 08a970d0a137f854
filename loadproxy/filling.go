package loadproxy

import "adshard/schema/pb"

// OnlyFilling reports whether slices of a store are being filled and none is full yet, so
// that it has nothing to serve.
func OnlyFilling(t *pb.SliceTable) bool {
	filling := false
	for _, h := range t.GetSlices() {
		switch h.GetState() {
		case pb.HeldState_HELD_STATE_FULL:
			return false
		case pb.HeldState_HELD_STATE_FILLING:
			filling = true
		}
	}
	return filling
}

// holds reports whether the store has a position or a slice.
func (p *Proxy) holds() bool {
	at := p.store.Position()
	return at.GetEpoch() != 0 || at.GetClock() != 0 || len(p.store.Slices().GetSlices()) > 0
}
