package distributor

import (
	"adshard/internal/node/admission"
	"adshard/schema/pb"
)

// room is room for a slave that enlists. Called under the lock.
func (p *Distributor) room(op, name string, table *pb.SliceTable) error {
	_, known := p.clients[name]
	if !known && len(p.clients) >= admission.MaxSlaves {
		p.forget()
	}
	held := 0
	for other, c := range p.clients {
		if other != name {
			held += c.held
		}
	}
	return admission.Check(op, name, known, len(p.clients), held, table)
}
