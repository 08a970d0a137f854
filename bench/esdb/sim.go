package esdb

import (
	"math/rand/v2"
	"time"

	"adshard/bench/skew"
)

// sim is one run, a sequence of events.
type sim struct {
	Config
	now    time.Duration
	events events
	rand   *rand.Rand
	skews  skews

	clients   []*client
	nodeFree  []time.Duration // when a node will have executed all that it was given
	shardFree []time.Duration
	master    master

	record    uint64 // the last id
	busy      []time.Duration
	executed  []int
	perShard  []int
	done      int
	delays    time.Duration
	perSecond []int
	routed    []write // all writes, if they are checked
	check     bool
}

// write is a write of Each records on its way; its fields are those of one of them.
type write struct {
	tenant  Tenant
	shard   int32
	record  uint64
	created time.Duration // by the client's clock
	born    time.Duration
}

// skews holds the distributions of phases by their exponents, all with the same number of
// tenants. They are made once for all runs.
type skews map[float64]*skew.Distribution

func skewsOf(tenants int, thetas ...float64) skews {
	out := make(skews)
	for _, t := range thetas {
		if out[t] == nil {
			out[t] = skew.Zipf(tenants, t)
		}
	}
	return out
}

// run simulates a run; skews must contain the distribution of each phase and of the
// storage.
func run(c Config, skews skews, check bool) *Result {
	s := &sim{Config: c, skews: skews, rand: rand.New(rand.NewPCG(c.Seed, 2022)), check: check,
		nodeFree: make([]time.Duration, nodes), shardFree: make([]time.Duration, shards),
		busy: make([]time.Duration, nodes), executed: make([]int, nodes), perShard: make([]int, shards),
		perSecond: make([]int, int(c.Duration/time.Second)+1)}
	stored := s.stored()
	for i := range clients {
		k := &client{s: s, id: uint8(i), rules: newRules(), outstanding: make([]int, nodes)}
		k.rules.addAll(stored)
		k.clock = time.Duration((2*s.rand.Float64() - 1) * float64(c.Commit.ClockError))
		s.clients = append(s.clients, k)
		s.events.add(event{at: tick * time.Duration(i) / clients, kind: generate, client: uint8(i)})
	}
	s.master = master{s: s, rules: newRules(), counts: make([]int32, c.Tenants)}
	s.master.rules.addAll(stored)
	if c.Policy == Dynamic {
		s.after(c.Commit.Period, s.master.period)
	}
	for !s.events.empty() {
		e := s.events.next()
		if e.at >= c.Duration {
			break
		}
		s.now = e.at
		s.step(&e)
	}
	return s.result()
}

// after schedules a function to run after d.
func (s *sim) after(d time.Duration, do func()) {
	s.events.add(event{at: s.now + d, kind: call, do: do})
}

// step handles one event.
func (s *sim) step(e *event) {
	switch e.kind {
	case generate:
		s.clients[e.client].generate()
		s.events.add(event{at: s.now + tick, kind: generate, client: e.client})
	case primary:
		n := int(e.write.shard) % nodes
		e.at, e.kind = s.execute(n)+latency, replica
		s.events.add(*e)
	case replica:
		n := (int(e.write.shard) + 1) % nodes
		e.at, e.kind = s.execute(n)+latency, acknowledge
		s.events.add(*e)
	case acknowledge:
		s.acknowledge(e)
	case call:
		e.do()
	}
}

// execute makes node n execute a write after all that it was given before, and returns
// when that ends.
func (s *sim) execute(n int) time.Duration {
	took := time.Duration(s.Each) * time.Second / nodeRate
	s.nodeFree[n] = max(s.nodeFree[n], s.now) + took
	if s.now >= s.Warmup {
		s.busy[n] += took
		s.executed[n] += s.Each
	}
	return s.nodeFree[n]
}

// acknowledge handles the acknowledgement of a write.
func (s *sim) acknowledge(e *event) {
	c := s.clients[e.client]
	c.outstanding[int(e.write.shard)%nodes]--
	s.perSecond[s.now/time.Second] += s.Each
	s.master.counts[e.write.tenant]++
	if s.now >= s.Warmup {
		s.done += s.Each
		s.perShard[e.write.shard] += s.Each
		s.delays += (s.now - e.write.born) * time.Duration(s.Each)
	}
	c.dispatch()
}

// stored returns the rules of the initialisation phase (§4.1).
func (s *sim) stored() []rule {
	if s.Policy != Dynamic || s.Storage < 0 {
		return nil
	}
	return storedRules(s.skews[s.Storage]).list
}

// storedRules returns rules that spread tenants by their share of what is stored, from
// the beginning on.
func storedRules(of *skew.Distribution) *rules {
	out := newRules()
	for k := range of.Len() {
		if spread := offset(of.Of(k), shards); spread > 1 {
			out.add(-time.Hour, spread, Tenant(k))
		}
	}
	return out
}

func (s *sim) result() *Result {
	seconds := (s.Duration - s.Warmup).Seconds()
	r := &Result{Throughput: float64(s.done) / seconds, Committed: s.master.committed, Aborted: s.master.aborted, Rules: len(s.master.rules.list)}
	if s.done > 0 {
		r.Delay = s.delays.Seconds() / float64(s.done)
	}
	for i := range s.executed {
		r.Nodes = append(r.Nodes, float64(s.executed[i])/seconds)
		r.Busy = append(r.Busy, min(1, s.busy[i].Seconds()/seconds))
	}
	for _, n := range s.perShard {
		r.Shards = append(r.Shards, float64(n)/seconds)
	}
	for _, n := range s.perSecond[:len(s.perSecond)-1] {
		r.Seconds = append(r.Seconds, float64(n))
	}
	for _, w := range s.routed {
		if int(w.shard) != shard(w.tenant, w.record, s.master.rules.write(w.tenant, w.created), shards) {
			r.Misrouted++
		}
	}
	return r
}
