package balancer

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"adshard/balance"
	"adshard/fault"
	"adshard/internal/node/access"
	"adshard/internal/node/identity"
	"adshard/internal/node/truth"
	"adshard/internal/node/wire"
	"adshard/internal/wait"
	"adshard/schema/pb"
)

const (
	// discardTime bounds the call that orders a slave to discard a slice.
	discardTime = 5 * time.Second
	// maxDiscards bounds the orders that wait; the mapper repeats them.
	maxDiscards = 1024
	// certifiers is how many certificates are made at a time. One that nobody waits for is
	// followed by a pause of such ones (pauses): thousands of moves of small slices by a strategy would
	// cost queries more than they gain.
	certifiers = 2
	// clockWait is the time between two checks of the mapper's clock.
	clockWait = 5 * time.Millisecond
)

// certifier makes the certificates that the mapper asks for, until ctx is done.
func (b *Balancer) certifier(ctx context.Context) error {
	var between pauses
	for {
		pausing := between.pausing()
		b.mu.Lock()
		next := take(&b.asked, b.mapper.Awaits, pausing)
		more := b.askedMore.Next()
		b.mu.Unlock()
		if next == nil {
			if err := between.wait(ctx, more); err != nil {
				return err
			}
			continue
		}
		began := time.Now()
		done := b.certify(ctx, *next)
		took := time.Since(began)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if done.Failed != nil {
			b.log.Warn("no certificates; they will be requested again", "slice", next.Slice, "err", done.Failed)
		}
		if err := b.step(func() error { b.mapper.Certified(b.now(), done); return nil }); err != nil {
			return err
		}
		if !next.Needed {
			between.begin(took)
		}
	}
}

// take takes the next question that the mapper awaits, and in a pause the next one that somebody waits for; nil: there
// is none. It drops those that the mapper has given up on.
func take(asked *[]balance.Certify, awaits func(seq uint64) bool, pausing bool) *balance.Certify {
	*asked = slices.DeleteFunc(*asked, func(c balance.Certify) bool { return !awaits(c.Seq) })
	i := slices.IndexFunc(*asked, func(c balance.Certify) bool { return c.Needed || !pausing })
	if i < 0 {
		return nil
	}
	next := (*asked)[i]
	*asked = slices.Delete(*asked, i, i+1)
	return &next
}

// certify has the slaves make their certificates, then makes the database's, which
// is read at a clock that is not below theirs; of what is changing, before and in the
// meantime, too.
func (b *Balancer) certify(ctx context.Context, c balance.Certify) (out balance.Certified) {
	ctx, cancel := context.WithTimeout(ctx, c.Within)
	defer cancel()
	defer func() { // whichever part of it took too long
		if out.Failed != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
			out.Failed = fault.Newf(fault.Deadline, "balancer: certify", "not within %v: %w", c.Within, out.Failed)
		}
	}()
	if c.Changing {
		s, err := b.newSampling(ctx, c)
		if err != nil {
			return balance.Certified{Seq: c.Seq, Failed: err}
		}
		c.Clock = max(c.Clock, s.taken[0].Clock)
		stopped := s.start(ctx)
		defer func() {
			if err := stopped(); out.Failed == nil {
				out.Failed = err
			}
			out.Before = s.taken
			out.Took += s.took
		}()
	}
	return b.certifyOnce(ctx, c)
}

// certifyOnce makes one certificate of each side, the database's last.
func (b *Balancer) certifyOnce(ctx context.Context, c balance.Certify) balance.Certified {
	out := balance.Certified{Seq: c.Seq}
	group, both := errgroup.WithContext(ctx)
	var busy atomic.Int64
	ask := func(name string, into **balance.Certificate) {
		group.Go(func() error {
			reply, err := b.requestCertificate(both, name, c)
			if err == nil {
				*into = truth.FromReply(reply)
				busy.Add(int64(reply.GetTookMicros()))
			}
			return err
		})
	}
	if c.Source != "" {
		ask(c.Source, &out.Source)
	}
	ask(c.Target, &out.Target)
	out.Failed = group.Wait()
	out.Took = time.Duration(busy.Load()) * time.Microsecond
	if out.Failed != nil {
		return out
	}
	clock, took := out.Target.Clock, time.Duration(0)
	if out.Source != nil {
		clock = max(clock, out.Source.Clock)
	}
	keys, _, err := b.wantedKeys(ctx, c, clock)
	if err == nil {
		out.Truth, took, err = b.truth.Certify(ctx, keys, parentsOf(c, out))
	}
	out.Failed = err
	out.Took += took
	return out
}

// parentsOf lists the parents that a request and its answers name, each once, in
// ascending order.
func parentsOf(c balance.Certify, answers balance.Certified) []balance.Parent {
	list := slices.Clone(c.Parents)
	for _, a := range []*balance.Certificate{answers.Source, answers.Target} {
		if a != nil {
			for _, p := range a.Parents {
				list = append(list, p.Parent)
			}
		}
	}
	slices.SortFunc(list, func(a, b balance.Parent) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID)) })
	return slices.Compact(list)
}

// requestCertificate has a slave make a certificate.
func (b *Balancer) requestCertificate(ctx context.Context, name string, c balance.Certify) (reply *pb.CertifyResponse, err error) {
	m := &pb.CertifyRequest{Lo: uint64(c.Lo), Hi: uint64(c.Hi), Clock: c.Clock, Bins: c.Wanted, Database: b.data.Database}
	for _, p := range c.Parents {
		m.Parents = append(m.Parents, &pb.ParentName{Kind: uint32(p.Kind), Id: p.ID})
	}
	err = b.call(ctx, name, "balancer: certify", func(s pb.SlaveClient, _ string) error {
		reply, err = s.Certify(ctx, m)
		return err
	})
	if err != nil {
		return nil, err
	}
	h, _, err := identity.Locate(ctx, b.db, &pb.Position{Clock: reply.GetClock(), Mark: reply.GetMark()})
	if err == nil && h == identity.Other {
		err = fault.Newf(fault.Conflict, "balancer: certify", "slave %s has another history of the database, with another change at clock %d", name, reply.GetClock())
	}
	return reply, err
}

// call calls a slave.
func (b *Balancer) call(ctx context.Context, name, op string, do func(s pb.SlaveClient, incarnation string) error) error {
	b.mu.Lock()
	n, ok := b.slaves[name]
	var address, incarnation string
	if ok {
		address, incarnation = n.address, n.incarnation
	}
	b.mu.Unlock()
	if !ok {
		return fault.Newf(fault.Unavailable, op, "slave %s has not registered", name)
	}
	conn, err := wire.Dial(address, b.cfg.Credentials.To(name, access.Slave)...)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := do(pb.NewSlaveClient(conn), incarnation); err != nil {
		return fault.Newf(fault.KindOf(err), op, "slave %s at %s: %w", name, address, err)
	}
	return nil
}

// discarder sends slaves the orders to discard slices, until ctx is done. The
// mapper repeats an order until the slave has followed it.
func (b *Balancer) discarder(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case d := <-b.discards:
			if b.tenure.Valid() { // else the next leader finds out by itself
				b.discard(ctx, d)
			}
		}
	}
}

func (b *Balancer) discard(ctx context.Context, d balance.Discard) {
	ctx, cancel := context.WithTimeout(ctx, discardTime)
	defer cancel()
	err := b.call(ctx, d.Node, "balancer: discard", func(s pb.SlaveClient, incarnation string) error {
		_, err := s.Discard(ctx, &pb.DiscardRequest{Lo: uint64(d.Lo), Hi: uint64(d.Hi), Generation: d.Generation, Reason: d.Reason,
			Incarnation: incarnation})
		return err
	})
	if err != nil && ctx.Err() == nil {
		b.log.Warn("a slave did not accept an order to discard; it will be repeated", "slice", d.Slice, "err", err)
	}
}

// wantedKeys lists the items of a certificate, once the mapper has all changes up to
// clock, and so every item that the slaves had then. It returns the mapper's clock.
func (b *Balancer) wantedKeys(ctx context.Context, c balance.Certify, clock uint64) ([]balance.Key, uint64, error) {
	for {
		b.mu.Lock()
		if at := b.mapper.Clock(); at >= clock {
			defer b.mu.Unlock()
			return truth.Keys(b.mapper.Items(), c.Lo, c.Hi, c.Wanted), at, nil
		}
		b.mu.Unlock()
		if err := wait.Sleep(ctx, clockWait); err != nil {
			return nil, 0, fault.Newf(fault.KindOf(err), "balancer: certify", "waiting for the changes up to clock %d: %w", clock, err)
		}
	}
}
