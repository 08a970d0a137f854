package copying

import (
	"context"
	"net/netip"

	"google.golang.org/grpc/peer"

	"adshard/fault"
	"adshard/internal/node/access"
)

// ParseTrusted parses addresses and networks: 10.0.0.8, 10.0.0.0/24, fd00::/8.
func ParseTrusted(list []string) ([]netip.Prefix, error) {
	out := make([]netip.Prefix, 0, len(list))
	for _, text := range list {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			var a netip.Addr
			if a, err = netip.ParseAddr(text); err == nil {
				p, err = a.Unmap().Prefix(a.Unmap().BitLen())
			}
		}
		if err != nil {
			return nil, fault.Newf(fault.Invalid, "copying: configure", "%q is not an address (10.0.0.8) or a network (10.0.0.0/24): %w", text, err)
		}
		out = append(out, p.Masked())
	}
	return out, nil
}

// checkTrust checks that the caller may have a copy, which contains every bid. The caller must be
// in this process or at one of the trusted addresses. If there are no trusted addresses, it must
// have the certificate of a slave or be on this machine. Errors: fault.Conflict.
func (s *Source) checkTrust(ctx context.Context) error {
	p, called := peer.FromContext(ctx)
	if !called {
		return nil
	}
	at, err := netip.ParseAddrPort(p.Addr.String())
	if err == nil {
		from := at.Addr().Unmap()
		if len(s.cfg.Trusted) == 0 && (from.IsLoopback() || access.CallerOf(ctx).Role == access.Slave) {
			return nil
		}
		for _, t := range s.cfg.Trusted {
			if t.Contains(from.WithZone("")) {
				return nil
			}
		}
	}
	return fault.Newf(fault.Conflict, "copying: open",
		"a caller at %s may not copy the store of %s; add its address to trusted_slaves there", p.Addr, s.cfg.Name)
}
