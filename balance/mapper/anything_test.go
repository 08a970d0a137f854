package mapper_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"adshard/balance"
	"adshard/balance/cluster"
	"adshard/balance/mapper"
)

// overseer follows quanta as a distributor does, and checks that the mapper
// does nothing that it must not do.
type overseer struct {
	t       *rapid.T
	r       *rig
	model   *balance.Model
	number  uint64
	clock   uint64
	masters map[string]uint64
	// published is the published model at the last check; heard is when slaves
	// last reported.
	published *balance.Model
	heard     map[string]time.Duration
	equal     map[uint64]uint64 // bins found equal, by slice and, in the upper half of the key, generation
}

func of(slice, generation uint64) uint64 { return slice | generation<<32 }

// take checks the quanta that were sent.
func (f *overseer) take() {
	for _, q := range f.r.quanta {
		switch {
		case q.Model != nil:
			f.model = q.Model
		case q.Number != f.number+1:
			f.t.Fatalf("quantum %d after %d", q.Number, f.number)
		default:
			for _, o := range q.Ops {
				f.check(o)
			}
			next, err := f.model.Apply(q.Ops)
			if err != nil {
				f.t.Fatalf("%v: %v", q.Ops, err)
			}
			f.model = next
		}
		if q.Clock < f.clock || q.View != f.model.View() {
			f.t.Fatalf("%+v after clock %d, model of view %d", q, f.clock, f.model.View())
		}
		f.number, f.clock = q.Number, q.Clock
	}
	f.r.quanta = nil
	p := f.r.m.Published()
	if p == nil || p == f.published {
		return
	}
	f.published = p
	for _, sh := range p.Shards() {
		lately := f.r.now < f.heard[sh.Name]+cluster.DefaultDeadAfter-time.Second
		now, _ := f.model.Named(sh.Name) // a shard that is drained by now has nothing in the view either
		if s := f.r.tables[sh.Name]; lately && now.State != balance.Drained && s.View < p.View() {
			f.t.Fatalf("view %d is published, but %s has %d", p.View(), sh.Name, s.View)
		}
	}
}

// check fails the test if an operation is not permitted yet.
func (f *overseer) check(o balance.Op) {
	i := slices.IndexFunc(f.model.Slices(), func(s balance.Slice) bool { return s.ID == o.Slice })
	if i < 0 {
		return
	}
	s := f.model.Slices()[i]
	switch o.Kind {
	case balance.OpSwitch:
		if got := f.equal[of(s.ID, s.Generation)]; got != 1<<balance.Bins-1 {
			f.t.Fatalf("slice %d is switched when the parts %x are equal", s.ID, got)
		}
	case balance.OpFinish:
		for name, view := range f.masters {
			if view < s.From {
				f.t.Fatalf("slice %d of view %d is finished while %s has view %d", s.ID, s.From, name, view)
			}
		}
	}
}

// TestAnythingGoes: whatever slaves, masters, people and faults do, in any
// order, a slice is switched only when both copies are equal, and finished
// only when no master has an older view; and each quantum follows the previous
// one.
func TestAnythingGoes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		slaves := []string{"a", "b", "c"}
		r := newRig(t, 5, func(c *cluster.Config) { c.Interval, c.EvacuateAfter = time.Second, 20*time.Second }, slaves...)
		f := &overseer{t: rt, r: r, masters: map[string]uint64{}, heard: map[string]time.Duration{}, equal: map[uint64]uint64{}}
		r.tables = map[string]balance.Table{}
		for _, n := range slaves {
			r.tables[n] = r.table(n)
		}
		f.take()
		r.slow = true
		actions := f.actions(slaves)
		for range 5 { // 30 steps each by default
			rt.Repeat(actions)
		}
	})
}

// actions returns the actions that may happen.
func (f *overseer) actions(slaves []string) map[string]func(*rapid.T) {
	r := f.r
	slave := rapid.SampledFrom(slaves)
	return map[string]func(*rapid.T){
		"":     func(*rapid.T) { r.carry(); f.take() },
		"save": func(*rapid.T) { r.save() },
		"pass": func(t *rapid.T) {
			f.pass(time.Duration(rapid.IntRange(1, 60).Draw(t, "beats")) * 200 * time.Millisecond)
		},
		"report": func(t *rapid.T) { f.report(slave.Draw(t, "slave")) },
		"through": func(*rapid.T) { // everything that is wanted has arrived
			r.save()
			r.carry()
			for _, n := range slaves {
				f.report(n)
			}
			f.pass(time.Second)
			for _, m := range []string{"m1", "m2"} {
				if p := r.m.Published(); p != nil && f.masters[m] != 0 {
					f.masters[m] = p.View()
				}
			}
		},
		"move": func(t *rapid.T) {
			_ = r.m.Move(r.now, uint64(rapid.IntRange(1, 6).Draw(t, "slice")), slave.Draw(t, "to"))
		},
		"drain":   func(t *rapid.T) { _ = r.m.Drain(r.now, slave.Draw(t, "slave")) },
		"restore": func(t *rapid.T) { _ = r.m.Restore(r.now, slave.Draw(t, "slave")) },
		"remove":  func(t *rapid.T) { _ = r.m.Remove(r.now, slave.Draw(t, "slave")) },
		"answer":  f.answer,
		"change": func(t *rapid.T) {
			r.clock++
			r.m.Changes(r.now, []balance.Change{{Clock: r.clock, Key: rigKey(rapid.Uint64Range(1, 250).Draw(t, "item")), Removed: rapid.Bool().Draw(t, "removed")}})
		},
		"master": func(t *rapid.T) {
			name := fmt.Sprint("m", rapid.IntRange(1, 2).Draw(t, "master"))
			if p := r.m.Published(); p != nil {
				if f.masters[name] == 0 {
					f.masters[name] = p.View()
				}
				f.masters[name] = rapid.Uint64Range(min(f.masters[name], p.View()), p.View()).Draw(t, "view")
			}
			r.m.Master(r.now, name, f.masters[name], 0)
		},
		"mute": func(t *rapid.T) {
			n := slave.Draw(t, "slave")
			if r.mute[n] = !r.mute[n]; !r.mute[n] {
				f.join(n)
			}
		},
		"restart": func(*rapid.T) {
			r.cfg.Epoch++
			r.start()
			f.equal = map[uint64]uint64{}
			for _, n := range slaves {
				if !r.mute[n] {
					f.join(n)
				}
			}
		},
	}
}

// pass lets time pass while masters renew their leases.
func (f *overseer) pass(d time.Duration) {
	for end := f.r.now + d; f.r.now < end; {
		for name, view := range f.masters {
			f.r.m.Master(f.r.now, name, view, 0)
		}
		f.r.pass(200 * time.Millisecond)
		for _, s := range f.r.m.Model().Slaves() { // slaves that have reported
			if !f.r.mute[s.Name] {
				f.heard[s.Name] = f.r.now
			}
		}
		f.take()
	}
}

func (f *overseer) join(n string) {
	f.r.must(f.r.m.Join(f.r.now, balance.Joining{Name: n, Table: f.r.tables[n]}))
	f.heard[n] = f.r.now
}

// report makes a slave report that it has what the model wants. A mute slave
// does not have it.
func (f *overseer) report(n string) {
	if f.r.mute[n] {
		return
	}
	t := f.r.table(n)
	f.r.tables[n], f.heard[n] = t, f.r.now
	f.r.must(f.r.m.Report(f.r.now, mapper.SlaveReport{Name: n, Incarnation: "1", Table: &t}))
}

// answer answers a question, correctly or not.
func (f *overseer) answer(t *rapid.T) {
	f.r.carry()
	f.take()
	if len(f.r.asked) == 0 {
		return
	}
	q := f.r.asked[0]
	rest := f.r.asked[1:]
	f.r.asked = f.r.asked[:1]
	how := rapid.SampledFrom([]string{"equal", "equal", "equal", "equal", "equal", "differs", "failed", "late"}).Draw(t, "how")
	f.r.answer(func(c *balance.Certified) {
		switch how {
		case "differs":
			c.Target.Bins[3].Lo++
			f.equal[of(q.Slice, q.Generation)] |= q.Wanted &^ (1 << 3)
		case "failed":
			c.Failed = fmt.Errorf("no")
		case "late": // of a time before the move: it has no effect
			c.Target.Clock = 1
		case "equal":
			f.equal[of(q.Slice, q.Generation)] |= q.Wanted
		}
	})
	f.r.asked = append(f.r.asked, rest...)
}
