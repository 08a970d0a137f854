package sim

import (
	"slices"
	"time"

	"adshard/balance"
	"adshard/balance/delivery"
	"adshard/fault"
)

// distributor runs a delivery.Distributor as the distributor process does, or as a
// balancer does with its own.
type distributor struct {
	process
	w           *world
	distributor *delivery.Distributor[payload] // nil until it has the epoch of a mapper
	epoch       uint64
	number      uint64 // of the newest quantum taken
	index       *balance.Index
	fed         uint64
	mapper      time.Duration // when the mapper last answered
	weights     []Item
	chaos       *source
	// balancer is the balancer to which it belongs, or nil if it is a process of its
	// own.
	balancer *balancer
}

// run is the life of the process. It reads all items, and then follows changes and
// quanta.
func (d *distributor) run() {
	w := d.w
	d.start()
	d.distributor, d.epoch, d.number, d.weights = nil, 0, 0, nil
	if w.checks != nil {
		delete(w.checks.order, d) // it has no memory of an epoch
	}
	d.fed, d.index, d.mapper = w.db.clock, w.db.index(), w.now
	if d.host != nil {
		d.adopt(d.balancer.epoch)
		w.every(&d.process, w.times.poll, d.follow)
		return
	}
	w.every(&d.process, w.times.poll, d.follow)
	w.every(&d.process, w.times.poll, d.ask)
}

// adopt makes a delivery.Distributor for an epoch.
func (d *distributor) adopt(epoch uint64) {
	cfg := d.w.cfg.Distributor
	cfg.Epoch = epoch
	d.epoch, d.number = epoch, 0
	d.distributor = delivery.New[payload](cfg, d.index, d.fed)
}

// follow reads changes from the database.
func (d *distributor) follow() {
	d.w.net.do(call{
		from: &d.process, to: &d.w.db.process, channel: control, timeout: d.w.times.timeout, failed: func() {},
		serve: func() func() {
			list, ok := d.w.db.changes(d.fed, 64)
			return func() {
				if !ok { // the feed has forgotten changes: only a new start helps
					d.run()
					return
				}
				d.changes(slices.DeleteFunc(list, func(c balance.Change) bool { return c.Clock <= d.fed }))
			}
		},
	})
}

func (d *distributor) changes(list []balance.Change) {
	if len(list) == 0 {
		return
	}
	d.fed = list[len(list)-1].Clock
	for _, c := range list {
		switch _, known := d.index.Get(c.Key); {
		case c.Key == 0:
		case c.Removed:
			d.index.Delete(c.Key)
		case !known:
			d.index.Put(c.Key, 1)
		}
	}
	if d.distributor != nil {
		d.w.must(d.distributor.Changes(list), d.name+" takes changes")
		d.work()
	}
}

// ask gets the next quanta from the balancer.
func (d *distributor) ask() {
	b := d.w.balancerOf(&d.process)
	if d.distributor != nil {
		d.distributor.Alone(d.w.now-d.mapper > d.w.times.unheard)
	}
	if b == nil {
		d.work()
		return
	}
	epoch, number, clock := d.epoch, d.number, uint64(0)
	if d.distributor != nil {
		clock = d.distributor.Head()
	}
	weights := d.weights
	d.weights = nil
	d.w.net.do(call{
		from: &d.process, to: &b.process, channel: control, timeout: d.w.times.timeout,
		failed: func() { d.weights = append(weights, d.weights...) },
		serve: func() func() {
			list := b.ask(d, epoch, number, clock, weights)
			from := b.epoch
			return func() {
				if from >= d.epoch {
					d.mapper = d.w.now
					if d.distributor != nil {
						d.distributor.Alone(false)
					}
				}
				d.take(from, list)
			}
		},
	})
	d.work()
}

// take takes quanta of an epoch. If the epoch is higher than its own, it makes a new
// delivery.Distributor.
func (d *distributor) take(epoch uint64, list []balance.Quantum) {
	for _, q := range list {
		if q.Epoch > d.epoch && q.Model != nil {
			d.adopt(q.Epoch)
		}
		if d.distributor == nil || q.Number <= d.number && q.Epoch == d.epoch && q.Model == nil {
			continue
		}
		if err := d.distributor.Quantum(q); err != nil {
			if fault.Is(err, fault.Stale) || fault.Is(err, fault.Conflict) {
				d.number = 0 // the next answer will have the whole model
				break
			}
			d.w.must(err, d.name+" takes a quantum")
			return
		}
		if d.w.checks != nil {
			d.w.checks.taken(d, q)
		}
		d.number = q.Number
	}
	d.work()
}

// enlist answers a slave's registration.
func (d *distributor) enlist(j balance.Joining) (uint64, delivery.Welcome, error) {
	if d.distributor == nil {
		return 0, delivery.Welcome{}, fault.Newf(fault.Unavailable, "sim: enlist", "no quantum has come yet")
	}
	w, err := d.distributor.Register(j, d.w.db.clock)
	d.work()
	return d.epoch, w, err
}

// pull answers a slave. again says that the slave must register first.
func (d *distributor) pull(slave string, epoch uint64, at balance.Position) (b *delivery.Bucket[payload], again bool) {
	if d.distributor == nil {
		return nil, true
	}
	d.distributor.Defer(slave)
	b, err := d.distributor.Pull(slave, epoch, at)
	if d.w.checks != nil && b != nil {
		d.w.checks.offered(slave, at, b)
	}
	d.work()
	return b, err != nil
}

// work starts the work that the delivery.Distributor wants done.
func (d *distributor) work() {
	if d.distributor == nil {
		return
	}
	d.distributor.Tick(d.w.now)
	work, life, current := d.distributor.Work(), d.life, d.distributor
	if d.w.checks != nil {
		d.w.checks.bounded(d)
	}
	alive := func() bool { return d.up && d.life == life && d.distributor == current }
	for _, b := range work.Builds {
		cost := time.Duration(float64(len(b.Entries)) * d.w.cfg.ItemMicros * float64(time.Microsecond))
		d.w.work(&d.process, d.w.cfg.Latency+cost, func() {
			switch {
			case !alive():
			case d.w.checks != nil && d.chaos.chance(30):
				current.Failed(b.Slave, b.Seq)
				d.work()
			default:
				current.Built(d.build(b))
				d.work()
			}
		})
	}
	for _, f := range work.Fetches {
		d.w.work(&d.process, d.w.cfg.Latency, func() {
			list, ok := d.w.db.changes(f.After, f.Limit)
			d.w.after(d.w.cfg.Latency, func() {
				if alive() {
					current.Fetched(delivery.Fetched{Slave: f.Slave, Seq: f.Seq, Changes: list, Stale: !ok})
					d.work()
				}
			})
		})
	}
}

// build reads items in their present state.
func (d *distributor) build(b delivery.Build) delivery.Built[payload] {
	db, out := d.w.db, delivery.Built[payload]{Slave: b.Slave, Seq: b.Seq}
	if b.Clock > db.clock {
		d.w.fail("%s builds for clock %d, there is %d", d.name, b.Clock, db.clock)
	}
	if d.w.checks != nil && d.w.cfg.Distributor.Repeat > 0 && d.chaos.chance(3) {
		b.MaxBytes = 0 // items are larger than expected: only the first one fits
	}
	for _, e := range b.Entries {
		i, there := db.items[e.Key]
		bytes := 64 + int(i.weight)
		if out.Entries > 0 && out.Bytes+bytes > b.MaxBytes {
			break
		}
		out.Entries++
		out.Bytes += bytes
		switch {
		case e.Key == 0:
			out.Payload.parents = append(out.Payload.parents, parent{e.Parent, db.parents[e.Parent]})
		case !there:
			out.Payload.deleted = append(out.Payload.deleted, e.Key)
		default:
			out.Payload.items = append(out.Payload.items, record{key: e.Key, version: i.version, posted: i.version, weight: i.weight})
			p := parentOf(e.Key)
			out.Payload.parents = append(out.Payload.parents, parent{p, db.parents[p]})
			if e.Changed() {
				d.index.Put(e.Key, i.weight)
				d.weights = append(d.weights, Item{e.Key, i.weight})
			}
		}
	}
	return out
}
