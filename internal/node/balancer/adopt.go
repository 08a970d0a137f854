package balancer

import (
	"context"

	"adshard/internal/node/wire"
	"adshard/schema/pb"
)

// Adopt gives the slave at an address this balancer's address, and returns the
// slave's name; the slave registers then. Errors: those of the slave, fault.Conflict
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
