package balancer

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"adshard/backend"
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
	// maxDiscards bounds the number of waiting orders; the mapper repeats those that are dropped.
	maxDiscards = 1024
	// certifiers is the number of goroutines that answer questions. Each answers one question at a time, or several
	// small ones together. After a question for which nothing waits, there is a pause for such questions (pauses):
	// thousands of moves of small slices would cost queries more than they gain.
	certifiers = 2
	// together is the number of questions about the same slaves that a certifier takes at a time, if something waits
	// for them and their items weigh no more than togetherWeight. A shard may have thousands of small slices, and each
	// question costs a connection, a snapshot of the database and several short waits. All questions taken together
	// must be answered within the time of one.
	together, togetherWeight = 16, 1 << 13
	// clockWait is the time between two checks of the mapper's clock.
	clockWait = 5 * time.Millisecond
)

// certifier answers the mapper's questions with certificates of slaves and of the database.
type certifier struct {
	database string // the database's id
	db       backend.Store
	truth    *truth.Certifier
	// call calls a slave.
	call func(ctx context.Context, name, op string, do func(s pb.SlaveClient, incarnation string) error) error
	// items lists the items of a certificate with the mapper's clock. It lists none if that clock is below `clock`.
	items func(c balance.Certify, clock uint64) (list []balance.Key, at uint64)
}

// newCertifier returns the balancer's certifier.
func newCertifier(b *Balancer, workers int) *certifier {
	return &certifier{
		database: b.data.Database, db: b.db, call: b.call, items: b.itemsOf,
		truth: &truth.Certifier{Order: b.order, DB: b.db, Builders: truth.NewBuilders(b.order, b.cfg.Languages, workers)},
	}
}

// itemsOf lists the items of a certificate with the mapper's clock. It lists none if that clock is below `clock`.
func (b *Balancer) itemsOf(c balance.Certify, clock uint64) ([]balance.Key, uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	at := b.mapper.Clock()
	if at < clock {
		return nil, at
	}
	return truth.Keys(b.mapper.Items(), c.Lo, c.Hi, c.Wanted), at
}

// certifyAsked makes the certificates that the mapper asks for, until ctx is done.
func (b *Balancer) certifyAsked(ctx context.Context) error {
	var between pauses
	for {
		pausing := between.pausing()
		b.mu.Lock()
		next := dequeueCertificates(&b.asked, b.mapper.Awaits, pausing)
		more := b.askedMore.Next()
		b.mu.Unlock()
		if len(next) == 0 {
			if err := between.wait(ctx, more); err != nil {
				return err
			}
			continue
		}
		began := time.Now()
		answers := b.certifier.certify(ctx, next)
		took := time.Since(began)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		warnOfFailed(b.log, next, answers)
		if err := b.step(func() error { b.mapper.Certified(b.now(), answers...); return nil }); err != nil {
			return err
		}
		if !next[0].Needed {
			between.begin(took)
		}
	}
}

// warnOfFailed logs a single warning with the number of questions that failed and the last reason: a slave that is gone
// fails many.
func warnOfFailed(log *slog.Logger, list []balance.Certify, answers []balance.Certified) {
	failed := 0
	var slice uint64 // the last that failed
	var why error
	for i, done := range answers {
		if done.Failed != nil {
			failed, slice, why = failed+1, list[i].Slice, done.Failed
		}
	}
	if failed > 0 {
		log.Warn("no certificates; they will be requested again", "slices", failed, "slice", slice, "err", why)
	}
}

// dequeueCertificates takes the next question that the mapper awaits, or, in a pause, the next one for which something
// waits. Questions that can be answered together come with it. Those that the mapper has given up on are dropped.
func dequeueCertificates(asked *[]balance.Certify, awaits func(seq uint64) bool, pausing bool) (next []balance.Certify) {
	*asked = slices.DeleteFunc(*asked, func(c balance.Certify) bool { return !awaits(c.Seq) })
	weight := uint64(0)
	*asked = slices.DeleteFunc(*asked, func(c balance.Certify) bool {
		switch {
		case len(next) == 0 && (c.Needed || !pausing):
		case len(next) > 0 && len(next) < together && joins(c, next[0]) && weight+c.Weight <= togetherWeight:
		default:
			return false
		}
		weight += c.Weight
		next = append(next, c)
		return true
	})
	return next
}

// joins reports whether a question may be answered together with `first`.
func joins(c, first balance.Certify) bool {
	may := func(c balance.Certify) bool { return c.Needed && !c.Changing && !c.Alone }
	return may(c) && may(first) && c.Within == first.Within && c.Source == first.Source && c.Target == first.Target
}

// certify answers questions about the same slaves. A question that is Changing comes alone in its list.
func (m *certifier) certify(ctx context.Context, list []balance.Certify) []balance.Certified {
	ctx, cancel := context.WithTimeout(ctx, list[0].Within)
	defer cancel()
	if list[0].Changing {
		return []balance.Certified{m.certifyChanging(ctx, list[0])}
	}
	return m.certifyOnce(ctx, list)
}

// inTime turns an error into one that names the deadline, if the deadline has passed.
func inTime(ctx context.Context, err error) error {
	if err == nil || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return err
	}
	return fault.Newf(fault.Deadline, "balancer: certify", "not in time: %w", err)
}

// certifyChanging makes certificates of the database also before the slaves answer and while they do.
func (m *certifier) certifyChanging(ctx context.Context, c balance.Certify) balance.Certified {
	s, err := m.newSampling(ctx, c)
	if err != nil {
		return balance.Certified{Seq: c.Seq, Failed: inTime(ctx, err)}
	}
	c.Clock = max(c.Clock, s.taken[0].Clock)
	stopped := s.start(ctx)
	out := m.certifyOnce(ctx, []balance.Certify{c})[0]
	if err := stopped(); out.Failed == nil {
		out.Failed = inTime(ctx, err)
	}
	out.Before = s.taken
	out.Took += s.took
	return out
}

// certifyOnce has the slaves make their certificates, and then makes those of the database, all from one snapshot at a
// clock that is not below the slaves'. If a slave cannot answer a question, only that question fails.
func (m *certifier) certifyOnce(ctx context.Context, list []balance.Certify) []balance.Certified {
	sources, targets := make([]reply, len(list)), make([]reply, len(list))
	group, both := errgroup.WithContext(ctx)
	if list[0].Source != "" {
		group.Go(func() error { return m.requestCertificates(both, list[0].Source, list, sources) })
	}
	group.Go(func() error { return m.requestCertificates(both, list[0].Target, list, targets) })
	none := inTime(ctx, group.Wait()) // set if one of the slaves has answered nothing
	out, clock := make([]balance.Certified, len(list)), uint64(0)
	for i, c := range list {
		source, target := sources[i], targets[i]
		out[i] = balance.Certified{Seq: c.Seq, Source: source.certificate, Target: target.certificate, Took: source.took + target.took}
		switch out[i].Failed = cmp.Or(none, source.err, target.err); {
		case out[i].Failed != nil:
		case source.certificate != nil:
			clock = max(clock, source.certificate.Clock, target.certificate.Clock)
		default:
			clock = max(clock, target.certificate.Clock)
		}
	}
	m.addTruth(ctx, list, clock, out)
	return out
}

// addTruth adds the database's certificates to the answers for which the slaves made theirs.
func (m *certifier) addTruth(ctx context.Context, list []balance.Certify, clock uint64, out []balance.Certified) {
	var parts []truth.Part
	var answered []int
	for i, c := range list {
		if out[i].Failed != nil {
			continue
		}
		keys, _, err := m.wantedKeys(ctx, c, clock)
		if err != nil {
			out[i].Failed = inTime(ctx, err)
			continue
		}
		parts, answered = append(parts, truth.Part{Keys: keys, Parents: parentsOf(c, out[i])}), append(answered, i)
	}
	if len(parts) == 0 {
		return
	}
	all, took, err := m.truth.CertifyAll(ctx, parts)
	for n, i := range answered {
		if out[i].Failed = inTime(ctx, err); err == nil {
			out[i].Truth = all[n]
		}
		out[i].Took += took / time.Duration(len(answered))
	}
}

// parentsOf lists the parents that a question and its answers name, without duplicates, in ascending order.
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

// reply is a slave's answer to one question.
type reply struct {
	certificate *balance.Certificate
	at          position
	took        time.Duration // processor time
	err         error
}

// requestCertificates has a slave answer questions, over one connection. If no question has an answer, it returns the
// first error; then the other slave need not answer either.
func (m *certifier) requestCertificates(ctx context.Context, name string, list []balance.Certify, replies []reply) error {
	clock := uint64(0) // the database's certificates will be no older than the newest of all questions
	for _, c := range list {
		clock = max(clock, c.Clock)
	}
	err := m.call(ctx, name, "balancer: certify", func(s pb.SlaveClient, _ string) error {
		var all sync.WaitGroup
		for i, c := range list {
			c.Clock = clock
			all.Go(func() { replies[i] = m.requestCertificate(ctx, s, name, c) })
		}
		all.Wait()
		return nil
	})
	if err != nil {
		return err
	}
	histories, answers := make(map[position]error), 0
	for i, r := range replies {
		if r.err != nil {
			continue
		}
		known, ok := histories[r.at]
		if !ok {
			known = inTime(ctx, m.sameHistory(ctx, name, r.at))
			histories[r.at] = known
		}
		if replies[i].err = known; known == nil {
			answers++
		}
	}
	if answers == 0 {
		return replies[0].err
	}
	return nil
}

// position is the position in the log at which a certificate was made.
type position struct{ clock, mark uint64 }

// requestCertificate has a slave make a certificate.
func (m *certifier) requestCertificate(ctx context.Context, s pb.SlaveClient, name string, c balance.Certify) reply {
	q := &pb.CertifyRequest{Lo: uint64(c.Lo), Hi: uint64(c.Hi), Clock: c.Clock, Bins: c.Wanted, Database: m.database}
	for _, p := range c.Parents {
		q.Parents = append(q.Parents, &pb.ParentName{Kind: uint32(p.Kind), Id: p.ID})
	}
	r, err := s.Certify(ctx, q)
	if err != nil {
		return reply{err: inTime(ctx, fault.Newf(fault.KindOf(err), "balancer: certify", "slave %s: %w", name, err))}
	}
	return reply{certificate: m.truth.FromReply(r), at: position{r.GetClock(), r.GetMark()}, took: time.Duration(r.GetTookMicros()) * time.Microsecond}
}

// sameHistory returns an error if the database's log differs from the slave's at the position where the slave made its
// certificate. Errors: fault.Conflict.
func (m *certifier) sameHistory(ctx context.Context, name string, at position) error {
	h, _, err := identity.Locate(ctx, m.db, &pb.Position{Clock: at.clock, Mark: at.mark})
	if err == nil && h == identity.Other {
		err = fault.Newf(fault.Conflict, "balancer: certify", "slave %s has another history of the database, with another change at clock %d", name, at.clock)
	}
	return err
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
			if b.leadership.Valid() { // otherwise the next leader finds out by itself
				b.discard(ctx, d)
			}
		}
	}
}

func (b *Balancer) discard(ctx context.Context, d balance.Discard) {
	ctx, cancel := context.WithTimeout(ctx, discardTime)
	defer cancel()
	err := b.call(ctx, d.Slave, "balancer: discard", func(s pb.SlaveClient, incarnation string) error {
		_, err := s.Discard(ctx, &pb.DiscardRequest{Lo: uint64(d.Lo), Hi: uint64(d.Hi), Generation: d.Generation, Reason: d.Reason,
			Incarnation: incarnation})
		return err
	})
	if err != nil && ctx.Err() == nil {
		b.log.Warn("a slave did not accept an order to discard; it will be repeated", "slice", d.Slice, "err", err)
	}
}

// wantedKeys lists the items of a certificate once the mapper has all changes up to `clock`, and so knows every item
// that the slaves had then. It also returns the mapper's clock.
func (m *certifier) wantedKeys(ctx context.Context, c balance.Certify, clock uint64) ([]balance.Key, uint64, error) {
	for {
		if list, at := m.items(c, clock); at >= clock {
			return list, at, nil
		}
		if err := wait.Sleep(ctx, clockWait); err != nil {
			return nil, 0, fault.Newf(fault.KindOf(err), "balancer: certify", "waiting for the changes up to clock %d: %w", clock, err)
		}
	}
}
