package node

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"adshard/balance"
	"adshard/fault"
	"adshard/internal/node/wire"
	"adshard/schema/pb"
)

const (
	// certifyTime bounds what slaves and database have to make a certificate.
	certifyTime = 30 * time.Second // as long as the mapper waits
	// certifiers is how many are made at a time.
	certifiers = 4
	// clockWait is the time between two looks at the mapper's clock.
	clockWait = 5 * time.Millisecond
)

// certifier makes the certificates that the mapper asks for, until ctx is over.
func (b *Balancer) certifier(ctx context.Context) error {
	for {
		b.mu.Lock()
		var next *balance.Certify
		for next == nil && len(b.asked) > 0 {
			if b.mapper.Awaits(b.asked[0].Seq) { // else it waited for too long
				next = &b.asked[0]
			}
			b.asked = b.asked[1:]
		}
		more := b.askedMore
		b.mu.Unlock()
		if next == nil {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-more:
			}
			continue
		}
		done := b.certify(ctx, *next)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if done.Failed != nil {
			b.log.Warn("no certificates; they are asked for again", "slice", next.Slice, "err", done.Failed)
		}
		if err := b.step(func() error { b.mapper.Certified(b.now(), done); return nil }); err != nil {
			return err
		}
	}
}

// certify has both slaves sum what they have, and after that the database,
// whose clock is then above all that they may have.
func (b *Balancer) certify(ctx context.Context, c balance.Certify) balance.Certified {
	out := balance.Certified{Seq: c.Seq}
	ctx, cancel := context.WithTimeout(ctx, certifyTime)
	defer cancel()
	group, both := errgroup.WithContext(ctx)
	ask := func(name string, into **balance.Certificate) {
		group.Go(func() (err error) { *into, err = b.ask(both, name, c); return err })
	}
	if c.Source != "" {
		ask(c.Source, &out.Source)
	}
	ask(c.Target, &out.Target)
	if out.Failed = group.Wait(); out.Failed != nil {
		return out
	}
	clock := out.Target.Clock
	if out.Source != nil {
		clock = max(clock, out.Source.Clock)
	}
	keys, err := b.known(ctx, c, clock)
	if err == nil {
		out.Truth, err = b.truth.certify(ctx, keys)
	}
	out.Failed = err
	return out
}

// ask has a slave make a certificate.
func (b *Balancer) ask(ctx context.Context, name string, c balance.Certify) (*balance.Certificate, error) {
	b.mu.Lock()
	n, ok := b.slaves[name]
	var address string
	if ok {
		address = n.address
	}
	b.mu.Unlock()
	if !ok {
		return nil, fault.Newf(fault.Unavailable, "balancer: certify", "slave %s has not registered", name)
	}
	conn, err := wire.Dial(address)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	reply, err := pb.NewSlaveClient(conn).Certify(ctx, &pb.CertifyRequest{
		Lo: uint64(c.Lo), Hi: uint64(c.Hi), Clock: c.Clock, Bins: c.Wanted})
	if err != nil {
		return nil, fault.Newf(fault.KindOf(err), "balancer: certify", "slave %s at %s: %w", name, address, err)
	}
	return certificateOf(reply), nil
}

// known lists the items that are wanted, once the mapper knows all changes up to
// clock: what slaves have by then is among them.
func (b *Balancer) known(ctx context.Context, c balance.Certify, clock uint64) ([]balance.Key, error) {
	for {
		b.mu.Lock()
		if b.mapper.Clock() >= clock {
			defer b.mu.Unlock()
			return wantedKeys(b.mapper.Items(), c.Lo, c.Hi, c.Wanted), nil
		}
		b.mu.Unlock()
		if err := pause(ctx, clockWait); err != nil {
			return nil, err
		}
	}
}
