package sim

import (
	"slices"

	"adshard/balance"
	"adshard/fault"
)

// certify asks the nodes, then the database, as the mapper wants it.
func (b *balancer) certify(c balance.Certify) {
	done := balance.Certified{Seq: c.Seq}
	answer := func() {
		b.mapper.Certified(b.time(), done)
		b.carry()
	}
	fail := func() {
		done = balance.Certified{Seq: c.Seq, Failed: fault.Newf(fault.Unavailable, "sim: certify", "no certificate was to be had")}
		answer()
	}
	truth := func() {
		b.w.net.do(call{
			from: &b.process, to: &b.w.db.process, channel: control, timeout: b.w.times.timeout, failed: fail,
			serve: func() func() {
				named := slices.Clone(c.Parents)
				for _, asked := range []*balance.Certificate{done.Source, done.Target} {
					if asked != nil {
						for _, p := range asked.Parents {
							named = append(named, p.Parent)
						}
					}
				}
				done.Truth = b.w.db.certificate(c.Lo, c.Hi, c.Wanted, named)
				return answer
			},
		})
	}
	target := func() { b.certificate(c, c.Target, 20, &done.Target, truth, fail) }
	if c.Source == "" {
		target()
		return
	}
	b.certificate(c, c.Source, 20, &done.Source, target, fail)
}

// certificate asks a node, several times until it has applied all up to the
// clock wanted.
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

// discard orders a node to stop serving a slice.
func (b *balancer) discard(o balance.Discard) {
	s := b.slaves[o.Node]
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
