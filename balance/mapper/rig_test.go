package mapper_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
	"adshard/balance/load"
	"adshard/balance/mapper"
	"adshard/balance/maps"
)

// rig drives a mapper by messages: a test says what slaves and masters do. Its
// items have the keys n<<56 + n, n from 1 to 200, and weigh 10 each.
type rig struct {
	t      *testing.T
	m      *mapper.Mapper
	cfg    cluster.Config
	index  *balance.Index
	now    time.Duration
	clock  uint64
	state  []byte // durable
	hold   *maps.SaveState
	slow   bool // states become durable only by save
	asked  []balance.Certify
	quanta []balance.Quantum
	// discards holds the orders to stop serving slices.
	discards []balance.Discard
	events   []string // events and troubles
	ill      []string // troubles
	loud     []string // events other than steps
	mute     map[string]bool
	// residue is what slaves still have to delete; it comes first in their
	// tables.
	residue map[string]balance.Held
	// tables holds what slaves last reported, if a test keeps it.
	tables map[string]balance.Table
}

const rigItems = 200

func rigKey(n uint64) balance.Key { return balance.Key(n<<56 + n) }

// newRig returns a rig whose first plan is published. The ring is cut into
// slices of equal width, which are dealt out to the slaves in turn.
func newRig(t *testing.T, slices int, change func(*cluster.Config), slaves ...string) *rig {
	t.Helper()
	r := &rig{t: t, clock: 100, index: &balance.Index{}, mute: map[string]bool{}}
	for n := uint64(1); n <= rigItems; n++ {
		r.index.Put(rigKey(n), 10)
	}
	r.cfg = cluster.Config{
		Epoch: 1, Slaves: len(slaves), Order: balance.ByHash, Interval: time.Hour, EvacuateAfter: cluster.DefaultEvacuateAfter,
		LoadWeights: load.Weights{Micros: 1},
		Strategy:    stubborn{initial: func(in balance.Input) (balance.Proposal, error) { return dealt(in, slices) }},
	}
	if change != nil {
		change(&r.cfg)
	}
	r.start()
	for _, n := range slaves {
		r.must(r.m.Join(r.now, balance.Joining{Name: n}))
	}
	r.carry()
	r.ackAll()
	if r.m.Published() == nil || r.m.Published().View() != 1 {
		t.Fatalf("the first plan is not published: %v", r.events)
	}
	return r
}

func dealt(in balance.Input, n int) (balance.Proposal, error) {
	e := in.Model.Edit()
	shards := in.Model.Shards()
	last := in.Model.Slices()[0].ID
	for i := 1; i < n; i++ {
		next, err := e.Split(last, balance.MaxKey/balance.Key(n)*balance.Key(i)+1)
		if err != nil {
			return balance.Proposal{}, err
		}
		last = next
		if err := e.Map(last, shards[i%len(shards)].ID); err != nil {
			return balance.Proposal{}, err
		}
	}
	return balance.Proposal{Ops: e.Ops()}, nil
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// start starts a mapper with the durable state.
func (r *rig) start() {
	r.t.Helper()
	m, err := mapper.New(r.cfg, r.index, r.state)
	r.must(err)
	r.m, r.asked, r.hold = m, nil, nil
	m.Loaded(r.now, r.clock)
	r.carry()
}

// restart starts the mapper again as after a kill; its slaves register again.
func (r *rig) restart(slaves ...string) {
	r.t.Helper()
	tables := map[string]balance.Table{}
	for _, n := range slaves {
		tables[n] = r.table(n)
	}
	r.cfg.Epoch++
	r.start()
	for _, n := range slaves {
		r.must(r.m.Join(r.now, balance.Joining{Name: n, Table: tables[n]}))
	}
	r.carry()
}

// carry handles the mapper's messages and makes states durable.
func (r *rig) carry() {
	for range 20 {
		out := r.m.Out()
		r.asked = append(r.asked, out.Certify...)
		r.quanta = append(r.quanta, out.Quanta...)
		r.discards = append(r.discards, out.Discards...)
		for _, e := range out.Events {
			r.events = append(r.events, e.String())
			if !e.Step {
				r.loud = append(r.loud, e.String())
			}
		}
		for _, err := range out.Troubles {
			r.events = append(r.events, err.Error())
			r.ill = append(r.ill, err.Error())
		}
		if out.Save != nil {
			r.hold = out.Save
		}
		if r.hold == nil || r.slow {
			return
		}
		r.save()
	}
	r.t.Fatal("the mapper never comes to rest")
}

func (r *rig) save() {
	if s := r.hold; s != nil {
		r.hold, r.state = nil, s.Bytes
		r.m.Saved(r.now, s.Seq)
	}
}

// pass lets time pass, in beats. Slaves that are not mute report.
func (r *rig) pass(d time.Duration) {
	for end := r.now + d; r.now < end; {
		r.now = min(end, r.now+200*time.Millisecond)
		if m := r.m.Model(); m != nil {
			for _, n := range m.Slaves() {
				if !r.mute[n.Name] {
					_ = r.m.Report(r.now, mapper.SlaveReport{Name: n.Name, Incarnation: "1", Position: balance.Position{Clock: r.clock}})
				}
			}
		}
		r.m.Tick(r.now)
		r.carry()
	}
}

// table returns what the newest model wants of a slave, with everything there.
func (r *rig) table(slave string) balance.Table {
	t := r.m.Model().TableOf(slave)
	if h, there := r.residue[slave]; there {
		t.Slices = append([]balance.Held{h}, t.Slices...)
	}
	return t
}

// ack makes a slave report that it has everything.
func (r *rig) ack(slave string) {
	r.t.Helper()
	t := r.table(slave)
	r.must(r.m.Report(r.now, mapper.SlaveReport{Name: slave, Incarnation: "1", Position: balance.Position{Clock: r.clock}, Table: &t}))
	r.carry()
}

func (r *rig) ackAll() {
	r.t.Helper()
	for _, n := range r.m.Model().Slaves() {
		if !r.mute[n.Name] {
			r.ack(n.Name)
		}
	}
}

// answer answers the only question, with equal copies, modified by change.
func (r *rig) answer(change func(*balance.Certified)) {
	r.t.Helper()
	if len(r.asked) != 1 {
		r.t.Fatalf("%d questions: %+v, %v", len(r.asked), r.asked, r.events)
	}
	q := r.asked[0]
	r.asked = nil
	r.answerTo(q, change)
}

// answerTo answers a question, with equal copies, modified by change.
func (r *rig) answerTo(q balance.Certify, change func(*balance.Certified)) {
	r.t.Helper()
	c := balance.Certificate{Clock: r.clock, Bytes: 6400}
	for i := range c.Bins {
		if q.Wanted>>i&1 != 0 {
			c.Bins[i] = balance.Sum{Count: 2, Hi: uint64(i), Lo: 7}
			c.Items += 2
		}
	}
	for _, p := range q.Parents {
		c.Parents = append(c.Parents, balance.ParentSum{Parent: p, Hi: 1, Lo: p.ID})
	}
	source, target := c, c
	source.Parents, target.Parents = slices.Clone(c.Parents), slices.Clone(c.Parents)
	a := balance.Certified{Seq: q.Seq, Source: &source, Target: &target, Truth: c}
	if q.Source == "" {
		a.Source = nil
	}
	if change != nil {
		change(&a)
	}
	r.m.Certified(r.now, a)
	r.carry()
}

// slice returns the i-th slice by key.
func (r *rig) slice(i int) balance.Slice { return r.m.Model().Slices()[i] }

// phase checks how far the move of the i-th slice is.
func (r *rig) phase(i int, want balance.MovePhase) {
	r.t.Helper()
	if got := r.slice(i); got.Move.Phase != want {
		r.t.Fatalf("slice %+v is %v, wanted %v; %s", got, got.Move.Phase, want, strings.Join(r.events, "\n"))
	}
}

// start0 starts to move the first slice from a to b, up to the question about
// the copies.
func (r *rig) start0() {
	r.t.Helper()
	r.must(r.m.Move(r.now, r.slice(0).ID, "b"))
	r.carry()
	r.phase(0, balance.Copying)
	r.ackAll()
}

// switch0 moves the first slice from a to b up to its switch.
func (r *rig) switch0() {
	r.t.Helper()
	r.start0()
	r.answer(nil)
	r.pass(200 * time.Millisecond)
	r.phase(0, balance.Switched)
}

func (r *rig) wantTrouble(text string) {
	r.t.Helper()
	if !slices.ContainsFunc(r.ill, func(s string) bool { return strings.Contains(s, text) }) {
		r.t.Errorf("nobody complained of %q: %q", text, r.ill)
	}
}

func (r *rig) wantEvent(text string) {
	r.t.Helper()
	if !slices.ContainsFunc(r.events, func(s string) bool { return strings.Contains(s, text) }) {
		r.t.Errorf("nobody said %q: %q", text, r.events)
	}
}
