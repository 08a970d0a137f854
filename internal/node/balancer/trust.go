package balancer

import (
	"context"
	"net"
	"slices"

	"google.golang.org/grpc/peer"

	"adshard/fault"
	"adshard/internal/node/access"
	"adshard/schema/pb"
)

// checkTrust checks that slaves may pull from a distributor, whose data replaces theirs. The
// balancer's own distributor is trusted, since it runs in this process. Others must have an address
// in TrustedDistributors. If that list is empty, they must have a certificate of that role or run
// on this machine. Errors: fault.Conflict.
func (b *Balancer) checkTrust(ctx context.Context, r *pb.QuantaRequest) error {
	const op = "balancer: give quanta"
	from, called := peer.FromContext(ctx)
	switch list := b.cfg.TrustedDistributors; {
	case !called:
		return nil
	case r.GetName() == ownDistributor:
		return fault.Newf(fault.Conflict, op, "%q is the name of the balancer's own distributor; give this one another name", ownDistributor)
	case slices.Contains(list, r.GetAddress()):
		return nil
	case len(list) == 0 && access.CallerOf(ctx).Role == access.Distributor: // the certificate has the distributor's name
		return nil
	case len(list) == 0 && onLoopback(from.Addr.String()) && onLoopback(r.GetAddress()):
		return nil
	}
	return fault.Newf(fault.Conflict, op,
		"the distributor %s, calling from %s, advertises %s to slaves, which is not in the balancer's trusted_distributors; add it there",
		r.GetName(), from.Addr, r.GetAddress())
}

// onLoopback reports whether only this machine can reach the HOST:PORT.
func onLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && (host == "localhost" || net.ParseIP(host).IsLoopback())
}
