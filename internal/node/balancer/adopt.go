package balancer

import (
	"cmp"
	"context"

	"adshard/internal/node/access"
	"adshard/internal/node/wire"
	"adshard/schema/pb"
)

// Adopt gives the slave at an address the addresses of the cluster's balancers, and returns the
// slave's name. The slave registers afterwards. Errors: those of the slave, with fault.Conflict if
// it belongs to another balancer; fault.Unavailable if nothing answers.
func (b *Balancer) Adopt(ctx context.Context, address string) (name string, err error) {
	conn, err := wire.Dial(address, b.cfg.Credentials.To("", access.Slave)...)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	reply, err := pb.NewSlaveClient(conn).Adopt(ctx, &pb.AdoptRequest{Balancer: cmp.Or(b.cfg.Balancers, b.cfg.Advertise)})
	return reply.GetName(), err
}
