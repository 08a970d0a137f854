package sim

import (
	"fmt"
	"slices"
	"time"

	"adshard/balance"
	"adshard/balance/mapper"
	"adshard/balance/maps"
	"adshard/fault"
)

// balancer runs a mapper as the balancer process does.
type balancer struct {
	process
	w      *world
	jump   time.Duration // offset of its machine's clock
	jumped time.Duration // when the clock last jumped
	epoch  uint64
	mapper *mapper.Mapper // nil until it has its epoch
	index  *balance.Index
	fed    uint64

	ring     []balance.Quantum // the newest quanta
	slaves   map[string]*slave // registered slaves, by name
	clocks   map[string]uint64 // clocks that slaves have applied, as reported
	heard    []heard
	began    time.Duration            // when the mapper started
	hears    map[string]time.Duration // when each slave was last heard from, by name
	shown    *balance.Model           // the published model
	watchers []*watcher               // masters that wait for a map
	own      *distributor             // its own distributor; nil if there are others
	timer    uint64                   // number of the next tick; earlier ones do nothing
	saving   bool
	waiting  *maps.SaveState
}

// heard is when a distributor last asked.
type heard struct {
	d  *distributor
	at time.Duration
}

// ringSize is the number of quanta that are kept for distributors.
const ringSize = 64

func (b *balancer) time() time.Duration { return max(0, b.w.now+b.jump) }

// run is the life of the process. It takes the next epoch, reads the state and all
// items, and then follows changes.
func (b *balancer) run() {
	w := b.w
	b.start()
	b.mapper, b.ring, b.saving, b.waiting, b.heard, b.watchers = nil, nil, false, nil, nil, nil
	b.slaves, b.clocks, b.hears, b.shown = map[string]*slave{}, map[string]uint64{}, map[string]time.Duration{}, nil
	life := b.life
	w.after(w.jitter(5*w.cfg.Latency), func() {
		if !b.up || b.life != life {
			return
		}
		w.db.epoch++
		b.epoch, b.fed, b.index = w.db.epoch, w.db.clock, w.db.index()
		cfg := w.cfg.Mapper
		cfg.Began = time.Unix(3*3600-5, 0).UTC() // just before the night, for the strategy original
		cfg.Epoch, cfg.Order, cfg.Slaves, cfg.Strategy = b.epoch, w.cfg.Order, w.cfg.Slaves, w.current
		m, err := mapper.New(cfg, b.index, w.db.state)
		w.must(err, "start the mapper")
		if err != nil {
			return
		}
		b.mapper, b.began = m, w.now
		if b.own != nil {
			b.own.run()
		}
		m.Pause(w.paused)
		m.Loaded(b.time(), b.fed)
		b.carry()
		w.every(&b.process, w.times.poll, b.follow)
		w.every(&b.process, 20*w.times.poll, b.housekeep)
	})
}

// end stops the process and its parts.
func (b *balancer) end() {
	b.up, b.mapper = false, nil
	for _, v := range b.watchers {
		v.lost()
	}
	b.watchers = nil
	if b.own != nil {
		b.own.up = false
	}
}

// follow reads changes from the database.
func (b *balancer) follow() {
	b.w.net.do(call{
		from: &b.process, to: &b.w.db.process, channel: control, timeout: b.w.times.timeout,
		serve: func() func() {
			list, ok := b.w.db.changes(b.fed, 256)
			return func() {
				switch {
				case !ok:
					b.w.fail("the feed forgot changes after %d that the balancer still needs", b.fed)
				case len(list) > 0 && list[0].Clock > b.fed:
					list = slices.DeleteFunc(list, func(c balance.Change) bool { return c.Clock <= b.fed })
					b.fed = list[len(list)-1].Clock
					b.mapper.Changes(b.time(), list)
					b.carry()
				}
			}
		},
		failed: func() {},
	})
}

// housekeep stops the balancer if another one has taken over, and lets the feed forget
// the changes that all slaves have applied.
func (b *balancer) housekeep() {
	db := b.w.db
	if db.epoch != b.epoch {
		b.end()
		return
	}
	least := b.fed
	if m := b.mapper.Model(); m != nil {
		for _, s := range m.Slaves() {
			if sh, _ := m.Shard(s.Shard); sh.State != balance.Drained && !s.Drained {
				least = min(least, b.clocks[s.Name])
			}
		}
	} else {
		least = 0
	}
	if b.fed > b.w.times.keep {
		least = max(least, b.fed-b.w.times.keep)
	}
	for _, s := range b.w.slaves { // siblings hold the changes that copies need
		if s.copying != nil {
			least = min(least, s.copying.position.Clock)
		}
	}
	for _, other := range b.w.balancers { // each balancer holds the changes that it still has to read
		if other.up && other.mapper != nil {
			least = min(least, other.fed)
		}
	}
	for _, d := range b.w.distributors {
		if d.up && d.distributor != nil {
			least = min(least, d.fed)
		}
	}
	db.compact(least)
}

// carry delivers the mapper's messages.
func (b *balancer) carry() {
	w := b.w
	out := b.mapper.Out()
	if out.Save != nil {
		b.waiting = out.Save
		if w.checks != nil {
			w.checks.deciding(b, out.Save.Bytes)
		}
		b.save()
	}
	for _, q := range out.Quanta {
		b.ring = append(b.ring, q)
		if len(b.ring) > ringSize {
			b.ring = b.ring[len(b.ring)-ringSize:]
		}
		if w.checks != nil {
			w.checks.quantum(b, q)
		}
	}
	if len(out.Quanta) > 0 && b.own != nil && b.own.distributor != nil {
		b.own.take(b.epoch, b.since(b.own.epoch, b.own.number))
	}
	if b.own != nil {
		for _, i := range b.own.weights {
			b.mapper.Weigh(i.Key, i.Weight)
		}
		b.own.weights = nil
	}
	for _, c := range out.Certify {
		b.certify(c)
	}
	for _, d := range out.Discards {
		b.discard(d)
	}
	p := b.mapper.Published()
	published := p != b.shown
	if b.shown = p; published && w.checks != nil {
		w.checks.published(b, p.View())
	}
	for _, err := range out.Troubles {
		w.trouble(b, err)
	}
	for _, e := range out.Events {
		w.told(b, e)
	}
	if published || len(out.Quanta) > 0 {
		b.wake()
	}
	b.timer++
	timer, life := b.timer, b.life
	w.at(max(w.now+time.Millisecond, w.now+b.mapper.Next()-b.time()), func() {
		if b.up && b.life == life && b.timer == timer && b.mapper != nil {
			b.mapper.Tick(b.time())
			b.carry()
		}
	})
}

// save makes the state durable that the mapper last wanted to save. If another balancer
// has taken over, this one ends instead.
func (b *balancer) save() {
	if b.saving || b.waiting == nil {
		return
	}
	s := b.waiting
	b.saving, b.waiting = true, nil
	fenced, epoch := false, b.epoch // the answer may arrive after this process was started again
	b.w.net.do(call{
		from: &b.process, to: &b.w.db.process, channel: control, timeout: 100 * b.w.times.timeout,
		serve: func() func() {
			if fenced = b.w.db.epoch != epoch; !fenced {
				b.w.db.state = s.Bytes
				b.w.saved(s.Bytes)
			}
			return func() {
				b.saving = false
				if fenced {
					b.end()
					return
				}
				b.mapper.Saved(b.time(), s.Seq)
				b.carry()
				b.save()
			}
		},
		failed: func() { b.saving, b.waiting = false, s; b.save() },
	})
}

// since returns the quanta after those that a distributor has. If older ones are gone,
// the first quantum has the whole model.
func (b *balancer) since(epoch, number uint64) []balance.Quantum {
	if b.mapper == nil {
		return nil
	}
	if epoch == b.epoch {
		for i, q := range b.ring {
			if q.Number == number+1 || i == 0 && q.Model != nil && q.Number > number {
				return slices.Clone(b.ring[i:])
			}
		}
		if n := len(b.ring); n > 0 && b.ring[n-1].Number <= number {
			return nil
		}
	}
	if q, ok := b.mapper.Reinit(); ok {
		return []balance.Quantum{q}
	}
	return nil
}

// register answers a slave. sibling is the slave whose disk it is to copy, or "" if it
// is to copy none.
func (b *balancer) register(s *slave, j balance.Joining) (epoch uint64, d *distributor, sibling string, err error) {
	if b.mapper == nil {
		return 0, nil, "", fault.Newf(fault.Unavailable, "sim: register", "the balancer is starting")
	}
	if err := b.mapper.Join(b.time(), j); err != nil {
		return 0, nil, "", err
	}
	b.slaves[s.name], b.hears[s.name], b.clocks[s.name] = s, b.w.now, j.Position.Clock
	sibling = b.sibling(s.name)
	b.carry()
	return b.epoch, b.assigned(s.name), sibling, nil
}

// sibling returns the slave whose disk a slave is to copy, or "" if it is to copy none.
func (b *balancer) sibling(slave string) string {
	if _, list := b.mapper.CopyFrom(b.time(), slave); len(list) > 0 {
		return list[0].Name
	}
	return ""
}

// report takes a slave's report. It returns the distributor that is to serve the slave,
// and the sibling to copy.
func (b *balancer) report(epoch, incarnation uint64, r mapper.SlaveReport) (*distributor, string, error) {
	s := b.slaves[r.Name]
	if b.mapper == nil || s == nil || s.incarnation != incarnation || epoch > b.epoch {
		return nil, "", fault.Newf(fault.Stale, "sim: report", "register again")
	}
	if err := b.mapper.Report(b.time(), r); err != nil {
		return nil, "", err
	}
	b.clocks[r.Name], b.hears[r.Name] = r.Position.Clock, b.w.now
	sibling := b.sibling(r.Name)
	b.carry()
	return b.assigned(r.Name), sibling, nil
}

// compared reports whether all data of a slave have been compared since it crashed.
func (b *balancer) compared(slave string) bool {
	r := b.mapper.Recheck(slave)
	return r != nil && r.Compared == r.Slices
}

// ask answers a distributor with the next quanta.
func (b *balancer) ask(d *distributor, epoch, number, clock uint64, weights []Item) []balance.Quantum {
	if b.mapper == nil {
		return nil
	}
	b.mapper.Floor(clock)
	for _, i := range weights {
		b.mapper.Weigh(i.Key, i.Weight)
	}
	known := slices.IndexFunc(b.heard, func(h heard) bool { return h.d == d })
	if known < 0 {
		b.heard, known = append(b.heard, heard{d: d}), len(b.heard)
	}
	b.heard[known].at = b.w.now
	return b.since(epoch, number)
}

// assigned returns the distributor for a slave: of all distributors heard from, the one
// with the highest hash for the slave's name (rendezvous hashing).
func (b *balancer) assigned(slave string) (best *distributor) {
	if b.own != nil {
		return b.own
	}
	most := uint64(0)
	for _, h := range b.heard {
		if b.w.now-h.at > b.w.times.unheard {
			continue
		}
		r := (&source{state: 1}).fork(slave + " " + h.d.name)
		if v := r.next(); best == nil || v > most {
			best, most = h.d, v
		}
	}
	return best
}

func (b *balancer) String() string { return fmt.Sprintf("%s of epoch %d", b.name, b.epoch) }
