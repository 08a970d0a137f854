package balancer

import (
	"context"

	"adshard/internal/node/wire"
	"adshard/schema/pb"
)

// Adopt tells the slave at an address where this balancer is, and returns its
// name; the slave registers then. Errors: those of the slave, fault.Conflict
// when it belongs to another balancer; fault.Unavailable when nobody answers.
func (b *Balancer) Adopt(ctx context.Context, address string) (name string, err error) {
	conn, err := wire.Dial(address)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	reply, err := pb.NewSlaveClient(conn).Adopt(ctx, &pb.AdoptRequest{Balancer: b.cfg.Advertise})
	return reply.GetName(), err
}
