package balancer

import (
	"context"
	"time"

	"adshard/fault"
	"adshard/internal/node/access"
	"adshard/internal/node/wire"
	"adshard/schema/pb"
)

// vacantTime bounds the call that asks whether a name is in use.
const vacantTime = time.Second

// checkName refuses a registration under the name of another slave that still answers at its last
// known address. Errors: fault.Conflict.
func (b *Balancer) checkName(ctx context.Context, r *pb.RegisterRequest) error {
	address, incarnation := b.lastAddress(r.GetName())
	if address == "" || incarnation == r.GetIncarnation() {
		return nil
	}
	conn, err := wire.Dial(address, b.cfg.Credentials.To("", access.Slave)...)
	if err != nil {
		return nil // no slave can serve at an address that cannot be dialled
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(ctx, vacantTime)
	defer cancel()
	self, err := pb.NewSlaveClient(conn).Map(ctx, &pb.MapRequest{})
	if err != nil || self.GetName() != r.GetName() || self.GetIncarnation() == wire.Incarnation(r.GetIncarnation()) {
		return nil
	}
	return fault.Newf(fault.Conflict, "balancer: register",
		"two slaves have the name %s: the one that answers at %s keeps it, the one that advertises %s is refused; "+
			"give it another name, or correct its address if it advertises the wrong one", r.GetName(), address, r.GetAddress())
}

// lastAddress returns the last address and incarnation of the slave with a name. Each is "" if it
// is not known.
func (b *Balancer) lastAddress(name string) (address, incarnation string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n, ok := b.slaves[name]; ok {
		return n.address, n.incarnation
	}
	if m := b.mapper.Model(); m != nil {
		if s, known := m.Slave(name); known {
			return s.Address, ""
		}
	}
	return "", ""
}
