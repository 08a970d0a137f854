package distributor

import (
	"adshard/internal/node/admission"
	"adshard/schema/pb"
)

// admit returns why a slave cannot enlist here, or nil if it can. The caller holds the lock.
func (d *Distributor) admit(op, name string, table *pb.SliceTable) error {
	_, registered := d.slaves[name]
	if !registered && len(d.slaves) >= admission.MaxSlaves {
		d.dropIdle()
	}
	slices := 0
	for other, c := range d.slaves {
		if other != name {
			slices += c.slices
		}
	}
	return admission.Check(op, name, registered, len(d.slaves), slices, table)
}
