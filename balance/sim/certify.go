package sim

import (
	"slices"

	"adshard/balance"
	"adshard/fault"
)

// certify asks the slaves and then the database, as the mapper wants it. If the items are
// changing, it asks the database also before and in the meantime.
func (b *balancer) certify(c balance.Certify) {
	q := &asking{Certify: c, b: b, done: balance.Certified{Seq: c.Seq}}
	if !c.Changing {
		q.slaves()
		return
	}
	q.database(nil, func(t balance.Certificate) {
		q.done.Before = append(q.done.Before, t)
		q.Clock = max(q.Clock, t.Clock)
		q.slaves()
		q.sample()
	})
}

// asking is a question of the mapper that is being answered.
type asking struct {
	balance.Certify
	b    *balancer
	done balance.Certified
	over bool
}

func (q *asking) answer() {
	if !q.over {
		q.over = true
		q.b.mapper.Certified(q.b.time(), q.done)
		q.b.carry()
	}
}

func (q *asking) fail() {
	q.done = balance.Certified{Seq: q.Seq, Failed: fault.Newf(fault.Unavailable, "sim: certify", "no certificate could be made")}
	q.answer()
}

// slaves asks the slaves and then the database.
func (q *asking) slaves() {
	b := q.b
	truth := func() {
		named := slices.Clone(q.Parents)
		for _, asked := range []*balance.Certificate{q.done.Source, q.done.Target} {
			if asked != nil {
				for _, p := range asked.Parents {
					named = append(named, p.Parent)
				}
			}
		}
		q.database(named, func(t balance.Certificate) {
			q.done.Truth = t
			q.answer()
		})
	}
	target := func() { b.certificate(q.Certify, q.Target, 20, &q.done.Target, truth, q.fail) }
	if q.Source == "" {
		target()
		return
	}
	b.certificate(q.Certify, q.Source, 20, &q.done.Source, target, q.fail)
}

// database gets a certificate of the source of truth.
func (q *asking) database(named []balance.Parent, then func(balance.Certificate)) {
	b := q.b
	b.w.net.do(call{
		from: &b.process, to: &b.w.db.process, channel: control, timeout: b.w.times.timeout, failed: q.fail,
		serve: func() func() {
			t := b.w.db.certificate(q.Lo, q.Hi, q.Wanted, named)
			return func() { then(t) }
		},
	})
}

// sample gets certificates of the source of truth again and again, until the question is
// answered.
func (q *asking) sample() {
	b, life := q.b, q.b.life
	b.w.after(b.w.times.poll/4, func() {
		if q.over || !b.up || b.life != life || b.mapper == nil {
			return
		}
		q.database(nil, func(t balance.Certificate) {
			q.done.Before = append(q.done.Before, t)
			q.sample()
		})
	})
}

// certificate asks a slave for a certificate. It tries several times, until the slave has
// applied all changes up to the clock wanted.
func (b *balancer) certificate(c balance.Certify, name string, tries int, into **balance.Certificate, next, fail func()) {
	s := b.slaves[name]
	if s == nil || tries == 0 {
		fail()
		return
	}
	life := b.life
	b.w.net.do(call{
		from: &b.process, to: &s.process, channel: control, timeout: b.w.times.timeout, failed: fail,
		serve: func() func() {
			if s.disk.position.Clock < c.Clock {
				return func() {
					b.w.after(b.w.times.poll, func() {
						if b.up && b.life == life && b.mapper != nil {
							b.certificate(c, name, tries-1, into, next, fail)
						}
					})
				}
			}
			sum := s.disk.certificate(c.Lo, c.Hi, c.Wanted, c.Parents)
			if b.w.checks != nil {
				b.w.checks.certified(s, c)
			}
			return func() {
				*into = sum
				next()
			}
		},
	})
}

// discard orders a slave to stop serving a slice.
func (b *balancer) discard(o balance.Discard) {
	s := b.slaves[o.Slave]
	if s == nil {
		return
	}
	b.w.net.do(call{
		from: &b.process, to: &s.process, channel: control, timeout: b.w.times.timeout, failed: func() {},
		serve: func() func() {
			if s.disk.discard(o) {
				if b.w.checks != nil {
					b.w.checks.discarded(s)
				}
				s.register()
			}
			return func() {}
		},
	})
}
