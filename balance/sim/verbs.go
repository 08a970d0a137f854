package sim

import (
	"fmt"
	"slices"
	"time"

	"adshard/balance"
	"adshard/fault"
)

// verbs returns the verbs of events. WHO is s1… (slaves), d1… (distributors), m1… (masters)
// or b (the balancer).
//
//	crash WHO [for=T] [how=empty|old]  ends, comes back after T; a slave with
//	                                   its disk, an empty one, or the copy
//	backup SLAVE                       a copy of its disk is kept for how=old
//	cut WHO [to=WHO] for=T [how=drop]  no message passes; they wait or are lost;
//	                                   how=mute: those from WHO are lost, no others
//	slow WHO for=T n=N                 works N times slower
//	full SLAVE for=T                   its disk takes nothing
//	flip SLAVE n=N                     a byte of one of its items' postings, or of its parent
//	damage for=T                       a byte of each copy that is being made
//	join SLAVE                         a new slave
//	add DISTRIBUTOR, remove DISTRIBUTOR
//	second b                           another balancer is started by mistake
//	clock b [for=T] [how=back]         its machine's clock jumps
//	write n=N, delete n=N, parent n=N  a change of the database; N says of what
//	burst n=N                          N changes at once
//	churn for=T [n=N]                  items of N owners change one after another, each 40 times a second
//	strategy NAME                      another one (strategies.go)
//	move n=N                           by command; N says which slice, whither
//	bounce for=T                       what has moved is moved back at once
//	absurd SLAVE for=T                 it reports impossible loads, twice
//	drain SLAVE, restore SLAVE, forget SLAVE, pause, resume
//	replicas n=N                       so many slaves are to hold each slice
func (w *world) verbs() map[string]func(Event) error {
	return map[string]func(Event) error{
		"crash": w.crash, "backup": w.keep, "cut": w.cut, "slow": w.slowed, "full": w.filled, "flip": w.flip,
		"damage": w.damage, "churn": w.churn,
		"join": w.join, "add": w.add, "remove": w.drop, "second": w.second, "clock": w.clock,
		"write": w.write, "delete": w.write, "parent": w.write, "burst": w.write, "strategy": w.use,
		"move": w.move, "drain": w.state, "restore": w.state, "forget": w.state, "bounce": w.bounce, "absurd": w.absurd,
		"pause": w.pause, "resume": w.pause, "replicas": w.replicate,
	}
}

// inject carries out an event. In a shortened scenario, an event may make no sense because
// an earlier one is missing; it is then ignored.
func (w *world) inject(e Event) {
	verb, known := w.verbs()[e.Do]
	if !known {
		w.broken = fault.Newf(fault.Invalid, "sim: play", "there is no verb %q", e.Do)
		return
	}
	if err := verb(e); err != nil && w.log != nil {
		w.log("%v %s: %v", w.now, e, err)
	}
}

// process returns the process with a name, or nil if there is none.
func (w *world) process(name string) *process {
	switch {
	case name == "b":
		return &w.balancers[len(w.balancers)-1].process
	case name == "db":
		return &w.db.process
	}
	if s := w.slave(name); s != nil {
		return &s.process
	}
	for _, d := range w.distributors {
		if d.name == name {
			return &d.process
		}
	}
	for _, m := range w.masters {
		if m.name == name {
			return &m.process
		}
	}
	return nil
}

func (w *world) crash(e Event) error {
	p := w.process(e.Who)
	if p == nil || !p.up {
		return fmt.Errorf("%s does not run", e.Who)
	}
	if e.Who == "b" {
		w.balancers[len(w.balancers)-1].end()
	}
	p.up = false
	if s := w.slave(e.Who); s != nil {
		s.health.whole = false
		switch {
		case e.How == "empty":
			s.disk = newDisk()
		case e.How == "old" && s.backup != nil:
			s.disk = s.backup.copy()
		}
	}
	w.after(max(time.Millisecond, e.For), func() { w.revive(e.Who) })
	return nil
}

// revive starts a process if it is not running.
func (w *world) revive(name string) {
	p := w.process(name)
	if p == nil || p.up {
		return
	}
	if s := w.slave(name); s != nil {
		s.run()
	}
	for _, d := range w.distributors {
		if d.name == name {
			d.run()
		}
	}
	for _, m := range w.masters {
		if m.name == name {
			m.run()
		}
	}
	if name == "b" {
		w.balancers[len(w.balancers)-1].run()
	}
}

func (w *world) keep(e Event) error {
	if s := w.slave(e.Who); s != nil {
		s.backup = s.disk.copy()
	}
	return nil
}

func (w *world) cut(e Event) error {
	a, b := w.process(e.Who), w.process(e.To)
	if a == nil || a == b {
		return fmt.Errorf("%s cannot be cut off", e.Who)
	}
	v := cut{a: a, b: b, until: w.now + e.For, drop: e.How == "drop" || e.How == "mute", oneWay: e.How == "mute"}
	w.net.cuts = append(w.net.cuts, v)
	if w.checks != nil {
		w.checks.cuts = append(w.checks.cuts, pastCut{v, w.now})
	}
	return nil
}

func (w *world) slowed(e Event) error {
	p := w.process(e.Who)
	if p == nil {
		return fmt.Errorf("there is no %s", e.Who)
	}
	p.slow = max(1, float64(e.N))
	w.after(e.For, func() { p.slow = 1 })
	return nil
}

func (w *world) filled(e Event) error {
	s := w.slave(e.Who)
	if s == nil {
		return fmt.Errorf("there is no %s", e.Who)
	}
	s.full = true
	w.after(e.For, func() { s.full = false })
	return nil
}

func (w *world) absurd(e Event) error {
	if s := w.slave(e.Who); s != nil {
		s.absurd = w.now + e.For
	}
	return nil
}

// flip damages the posting of one of a slave's items, or its parent.
func (w *world) flip(e Event) error {
	s := w.slave(e.Who)
	if s == nil || len(s.disk.items) == 0 {
		return fmt.Errorf("%s has nothing", e.Who)
	}
	keys := s.disk.held(0, balance.MaxKey)
	k := keys[e.N%uint64(len(keys))]
	if e.N%3 == 2 {
		s.flipParent(k)
	} else {
		s.flip(s.disk.items[k])
	}
	return nil
}

func (w *world) join(e Event) error {
	if w.slave(e.Who) != nil {
		return fmt.Errorf("there is a %s", e.Who)
	}
	w.newSlave(e.Who).run()
	return nil
}

func (w *world) add(e Event) error {
	if w.process(e.Who) != nil || w.cfg.Distributors == 0 {
		return fmt.Errorf("%s is there, or the balancer distributes", e.Who)
	}
	w.newDistributor(e.Who).run()
	return nil
}

// drop ends a distributor for good, unless it is the last one.
func (w *world) drop(e Event) error {
	i := slices.IndexFunc(w.distributors, func(d *distributor) bool { return d.name == e.Who })
	if i < 0 || len(w.distributors) < 2 {
		return fmt.Errorf("there is no %s, or no other", e.Who)
	}
	w.distributors[i].up = false
	w.distributors = slices.Delete(w.distributors, i, i+1)
	return nil
}

// second starts another balancer beside a running one. Processes that ask for the balancer
// find the new one at once; the old one must learn of it by the epoch.
func (w *world) second(Event) error {
	w.checksJumped()
	b := w.newBalancer(fmt.Sprint("b", len(w.balancers)+1))
	b.run()
	return nil
}

func (w *world) clock(e Event) error {
	w.checksJumped()
	b := w.balancers[len(w.balancers)-1]
	b.jumped = w.now
	if e.How == "back" {
		b.jump -= e.For
	} else {
		b.jump += e.For
	}
	return nil
}

// write changes the database. N selects an owner and an item of it.
func (w *world) write(e Event) error {
	n := int(e.N)
	k := key(n%owners, n/owners%ownerItems)
	switch e.Do {
	case "write":
		w.db.write(k, uint32(1+mix(e.N)%50), false)
	case "delete":
		w.db.write(k, 0, true)
	case "parent":
		if p := parentOf(k); w.db.parents[p] > 0 {
			w.db.touch(p)
		}
	case "burst":
		r := &source{state: e.N}
		for range min(n, 1000) {
			w.change(r)
		}
	}
	return nil
}

// churn changes items again and again for a time: each item of the first owners about forty
// times a second.
func (w *world) churn(e Event) error {
	until := w.now + e.For
	var keys []balance.Key
	for owner := range int(min(e.N, owners)) {
		for item := range ownerItems {
			keys = append(keys, key(owner, item))
		}
	}
	if len(keys) == 0 {
		return fmt.Errorf("of nobody")
	}
	var next func()
	next = func() {
		k := keys[0]
		keys = append(keys[1:], k)
		if i, there := w.db.items[k]; there {
			w.db.write(k, i.weight, false)
		}
		if w.now < until {
			w.after(25*time.Millisecond/time.Duration(len(keys)), next)
		}
	}
	next()
	return nil
}

// owners is the number of owners in scenarios, and ownerItems the greatest number of items
// of each.
const owners, ownerItems = 9, 12

// change makes a random change of the database.
func (w *world) change(r *source) {
	n := r.next() >> 40
	switch r.below(8) {
	case 0, 1:
		_ = w.write(Event{Do: "delete", N: n})
	case 2:
		_ = w.write(Event{Do: "parent", N: n})
	default:
		_ = w.write(Event{Do: "write", N: n})
	}
}

// running returns the newest balancer, or an error if it is not running yet.
func (w *world) running() (*balancer, error) {
	if b := w.balancer(); b != nil && b.mapper != nil {
		return b, nil
	}
	return nil, fmt.Errorf("no balancer runs")
}

func (w *world) use(e Event) error {
	s, err := w.named(e.Who)
	if err != nil {
		return err
	}
	w.current = s
	b, err := w.running()
	if err != nil {
		return err
	}
	b.mapper.Use(b.time(), s)
	b.carry()
	return nil
}

func (w *world) move(e Event) error {
	b, err := w.running()
	if err != nil || b.mapper.Model() == nil {
		return fmt.Errorf("no balancer runs")
	}
	m := b.mapper.Model()
	all, shards := m.Slices(), m.Shards()
	n := uint64(len(all))
	return w.command(all[e.N%n].ID, shards[e.N/n%uint64(len(shards))].Name)
}

func (w *world) state(e Event) error {
	b, err := w.running()
	if err != nil {
		return err
	}
	switch e.Do {
	case "drain":
		err = b.mapper.Drain(b.time(), e.Who)
	case "forget":
		err = b.mapper.Remove(b.time(), e.Who)
	default:
		err = b.mapper.Restore(b.time(), e.Who)
	}
	b.carry()
	return err
}

// replicate changes the number of replicas. A balancer that is started later reads the
// number from the durable state.
func (w *world) replicate(e Event) error {
	b, err := w.running()
	if err != nil {
		return err
	}
	err = b.mapper.SetReplicas(b.time(), int(e.N))
	b.carry()
	return err
}

func (w *world) pause(e Event) error {
	w.paused = e.Do == "pause"
	b, err := w.running()
	if err != nil {
		return err
	}
	b.mapper.Pause(w.paused)
	b.carry()
	return nil
}

// checksJumped tells the checks that a clock has jumped: for a while, the balancer may
// believe that all slaves are lost.
func (w *world) checksJumped() {
	if w.checks == nil {
		return
	}
	w.checks.jumped = w.now
}
