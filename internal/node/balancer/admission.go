package balancer

import (
	"adshard/internal/node/admission"
	"adshard/schema/pb"
)

// admit returns why a slave cannot register here; nil: it can. Called under the lock.
func (b *Balancer) admit(op, name string, table *pb.SliceTable) error {
	_, known := b.slaves[name]
	others, held := len(b.slaves), 0
	for other, n := range b.slaves {
		if other != name {
			held += n.slices
		}
	}
	if model := b.mapper.Model(); model != nil && !known {
		_, known = model.Named(name)
		for _, n := range model.Nodes() {
			if _, noted := b.slaves[n.Name]; !noted {
				others++
			}
		}
	}
	return admission.Check(op, name, known, others, held, table)
}
