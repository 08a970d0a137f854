package sim

import (
	"fmt"
	"time"

	"adshard/balance"
	"adshard/balance/delivery"
	"adshard/balance/load"
	"adshard/balance/mapper"
)

// slave is a slave: its disk, and the memory of its process.
type slave struct {
	process
	w      *world
	disk   *disk
	backup *disk // an old copy; nil if none was made
	full   bool  // the disk is full

	incarnation uint64
	epoch       uint64
	distributor *distributor // the distributor at which it is registered, or nil
	session     uint64       // number of the registration; timers of earlier ones do nothing
	failing     time.Duration
	settled     bool   // it has registered in this life
	catchUp     uint64 // the clock that it must reach before it serves
	refill      bool   // it waits for a reset
	caughtUp    bool
	health      health
	reported    bool // the present table was reported
	trouble     string
	load        counters
	copying     *disk           // the disk that it gets from a sibling; nil if it copies none
	copied      *balance.Copied // where the disk was copied from, until the balancer knows
	absurd      time.Duration   // until this time, it sends absurd reports
	unverified  bool            // it has crashed, and its data have not been compared since
}

// run is the life of the process.
func (s *slave) run() {
	s.start()
	s.incarnation++
	s.unverified = s.incarnation > 1 // in the simulator, processes end in no other way
	s.epoch, s.distributor, s.settled, s.refill, s.caughtUp = 0, nil, false, false, false
	s.reported, s.health.whole, s.trouble = false, false, ""
	s.copying, s.copied = nil, nil
	s.load = newCounters()
	s.register()
	s.w.every(&s.process, s.w.times.report, s.report)
	life := s.life
	s.w.after(s.w.times.grace, func() {
		if s.up && s.life == life && !s.settled {
			s.caughtUp = true
		}
	})
}

// retry calls a function after a while, unless the slave has done something else
// before.
func (s *slave) retry(d time.Duration, what func()) {
	session, life := s.session, s.life
	s.w.after(s.w.jitter(d), func() {
		if s.up && s.life == life && s.session == session {
			what()
		}
	})
}

// register registers the slave with the balancer, and then with its distributor.
func (s *slave) register() {
	s.session++
	s.distributor, s.failing, s.reported, s.copying = nil, 0, false, nil
	session := s.session
	again := func() {
		if s.session == session {
			s.retry(4*s.w.times.poll, s.register)
		}
	}
	b := s.w.balancerOf(&s.process)
	if b == nil {
		again()
		return
	}
	j := balance.Joining{Name: s.name, Site: balance.Site{Address: s.name + ":1"}, Position: s.disk.position, Table: s.disk.table, Copied: s.copied,
		Unverified: s.unverified}
	s.w.net.do(call{
		from: &s.process, to: &b.process, channel: control, timeout: s.w.times.timeout,
		serve: func() func() {
			epoch, d, sibling, err := b.register(s, j)
			return func() {
				switch {
				case err != nil:
					again()
				case s.session != session:
				default:
					s.copied = nil
					if sibling == "" || !s.replace(sibling, epoch) {
						s.enlist(epoch, d)
					}
				}
			}
		},
		failed: again,
	})
}

// enlist registers the slave with its distributor.
func (s *slave) enlist(epoch uint64, d *distributor) {
	session := s.session
	again := func() {
		if s.session == session {
			s.retry(4*s.w.times.poll, s.register)
		}
	}
	if d == nil || epoch < s.epoch {
		again()
		return
	}
	j := balance.Joining{Name: s.name, Site: balance.Site{Address: s.name + ":1"}, Position: s.disk.position, Table: s.disk.table}
	s.w.net.do(call{
		from: &s.process, to: &d.process, channel: data, timeout: s.w.times.timeout,
		serve: func() func() {
			enlisted, welcome, err := d.enlist(j)
			return func() {
				if err != nil {
					again()
					return
				}
				if s.session != session { // a slice was discarded meanwhile
					return
				}
				s.epoch, s.distributor, s.refill = enlisted, d, welcome.Refill
				if !s.settled || s.refill {
					s.settled, s.catchUp, s.caughtUp = true, welcome.CatchUp.Clock, false
				}
				s.reached()
				s.pull()
			}
		},
		failed: again,
	})
}

// reached lets the slave serve if it has reached the clock that it must reach.
func (s *slave) reached() {
	s.caughtUp = s.caughtUp || s.settled && !s.refill && s.disk.position.Clock >= s.catchUp
}

// pull asks for the next bucket.
func (s *slave) pull() {
	d, at, epoch, session := s.distributor, s.disk.position, s.epoch, s.session
	s.w.net.do(call{
		from: &s.process, to: &d.process, channel: data, timeout: s.w.times.timeout,
		serve: func() func() {
			b, again := d.pull(s.name, epoch, at)
			return func() {
				if s.session != session {
					return
				}
				s.failing = 0
				switch {
				case again:
					s.register()
				case b == nil:
					s.retry(s.w.times.poll, s.pull)
				default:
					s.apply(*b)
				}
			}
		},
		failed: func() {
			if s.session != session {
				return
			}
			if s.failing == 0 {
				s.failing = s.w.now
			}
			if s.w.now-s.failing > s.w.times.unheard {
				s.register()
				return
			}
			s.retry(s.w.times.poll, s.pull)
		},
	})
}

// apply makes a bucket durable, after the time that this takes.
func (s *slave) apply(b delivery.Bucket[payload]) {
	life, session := s.life, s.session
	n := len(b.Payload.items) + len(b.Payload.deleted) + 1
	s.w.work(&s.process, time.Duration(float64(n)*s.w.cfg.ItemMicros*float64(time.Microsecond)), func() {
		if !s.up || s.life != life || s.session != session {
			return
		}
		if s.full {
			s.trouble, s.health.whole = "the disk is full", false
			s.retry(4*s.w.times.poll, s.pull)
			return
		}
		s.trouble = ""
		if !b.Reset && b.From != s.disk.position || b.To.Epoch < s.disk.position.Epoch {
			s.register()
			return
		}
		before := s.disk.table
		if s.w.checks != nil {
			s.w.checks.bucket(s, b)
		}
		if s.w.checks != nil {
			s.w.checks.deletes(s, b)
		}
		s.disk.apply(b)
		s.refill = s.refill && !b.Reset
		s.reached()
		if s.w.checks != nil {
			s.w.checks.applied(s, before)
		}
		if b.Table != nil {
			s.reported = false
			s.report()
		}
		s.pull()
	})
}

// report sends the slave's state to the balancer.
func (s *slave) report() {
	b := s.w.balancerOf(&s.process)
	if b == nil || s.epoch == 0 {
		return
	}
	r := mapper.SlaveReport{
		Name: s.name, Incarnation: fmt.Sprint(s.incarnation), Position: s.disk.position, Trouble: s.trouble,
		Load: s.load.take(s.w.now, fmt.Sprint(s.incarnation)), Bytes: uint64(len(s.disk.items)), Unverified: s.unverified,
	}
	if !s.reported {
		t := s.disk.table
		r.Table = &t
	}
	if s.w.now < s.absurd {
		s.lie(r.Load)
	}
	s.reported = true
	forget := func() { s.reported = false }
	session, epoch, incarnation := s.session, s.epoch, s.incarnation
	s.w.net.do(call{
		from: &s.process, to: &b.process, channel: control, timeout: s.w.times.timeout,
		serve: func() func() {
			d, sibling, err := b.report(epoch, incarnation, r)
			compared := err == nil && b.compared(s.name)
			return func() {
				if err != nil {
					forget()
				}
				s.unverified = s.unverified && (s.incarnation != incarnation || !compared)
				if s.session == session && s.distributor != nil && (err != nil || d != nil && d != s.distributor || sibling != "") {
					s.register()
				}
			}
		},
		failed: forget,
	})
}

// lie adds absurd entries to a report: impossible costs, slices that do not exist,
// numbers that were used before.
func (s *slave) lie(r *load.Report) {
	huge := load.Cost{Examined: 1 << 62, Matched: 1 << 62, Micros: 1 << 63}
	r.Slices = append(r.Slices, load.SliceCost{Slice: 1, Generation: 1, Cost: huge}, load.SliceCost{Slice: 1 << 50, Cost: huge})
	r.Items = append(r.Items, load.ItemCost{Key: balance.MaxKey, Cost: huge})
	r.Pairs = append(r.Pairs, load.PairCost{Term: 1, Key: balance.MaxKey, Cost: huge})
	r.Number -= r.Number % 2
}
