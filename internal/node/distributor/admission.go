package distributor

import (
	"adshard/internal/node/admission"
	"adshard/schema/pb"
)

// admit returns why a slave cannot enlist here; nil: it can. Called under the lock.
func (d *Distributor) admit(op, name string, table *pb.SliceTable) error {
	_, known := d.slaves[name]
	if !known && len(d.slaves) >= admission.MaxSlaves {
		d.dropIdle()
	}
	held := 0
	for other, c := range d.slaves {
		if other != name {
			held += c.slices
		}
	}
	return admission.Check(op, name, known, len(d.slaves), held, table)
}
