package balancer

import (
	"adshard/internal/node/admission"
	"adshard/schema/pb"
)

// admit returns why a slave cannot register here, or nil if it can. The caller holds the lock.
func (b *Balancer) admit(op, name string, table *pb.SliceTable) error {
	_, registered := b.slaves[name]
	others, slices := len(b.slaves), 0
	for other, n := range b.slaves {
		if other != name {
			slices += n.slices
		}
	}
	if model := b.mapper.Model(); model != nil && !registered {
		_, registered = model.Slave(name)
		for _, n := range model.Slaves() {
			if _, noted := b.slaves[n.Name]; !noted {
				others++
			}
		}
	}
	return admission.Check(op, name, registered, others, slices, table)
}
