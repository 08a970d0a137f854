package sim

import (
	"fmt"
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
	"adshard/balance/delivery"
	"adshard/balance/load"
	"adshard/balance/maps"
)

// The times of scenarios. They are those of production, but shorter, so that much happens in little
// time.
const (
	playLease  = 1500 * time.Millisecond
	playLinger = 400 * time.Millisecond
	playRest   = 60 * time.Second // by this time, everything must have come to rest
)

func (s Scenario) config() Config {
	d := delivery.Config{BucketBytes: 600, NodeBytes: 2400, Ahead: 3, Changes: 40, Entries: 8}
	if s.Repeat > 0 {
		d.Repeat, d.BucketBytes, d.NodeBytes = s.Repeat, 20_000, 80_000 // so that several large items fit
	}
	return Config{
		Seed: s.Seed, Slaves: s.Slaves, Distributors: s.Distributors, Masters: s.Masters,
		Order: balance.ByOwner, Strategy: original{}, Duration: s.Duration,
		ItemMicros: 300, Latency: 2 * time.Millisecond,
		Mapper: cluster.Config{
			Interval: 500 * time.Millisecond, DeadAfter: time.Second, Report: 200 * time.Millisecond, EvacuateAfter: 4 * time.Second, Stall: 5 * time.Second,
			MasterLease: playLease, Linger: playLinger, Scrub: 3 * time.Second, ScrubShare: 1,
			LoadWeights: load.Weights{Examined: 1}, HalfLife: 2 * time.Second, Replicas: s.Replicas,
		},
		Distributor: d,
	}.WithDefaults()
}

func playTimes() times {
	return times{
		poll: 25 * time.Millisecond, report: 200 * time.Millisecond, timeout: 400 * time.Millisecond,
		unheard: 600 * time.Millisecond, grace: 800 * time.Millisecond, keep: 400, query: 300 * time.Millisecond,
		watch: 200 * time.Millisecond, seed: 100 * time.Millisecond,
		maps: maps.Times{Silent: 300 * time.Millisecond, FirstPause: 5 * time.Millisecond, LongestPause: 100 * time.Millisecond},
	}
}

// Outcome is the result of Play.
type Outcome struct {
	// Events is the number of events that were simulated, and Time the simulated time.
	Events uint64
	Time   time.Duration
	// Queries is the number of queries, and Complete the number of these that were answered completely.
	// Owed is the number that had to be complete, since all slaves were well.
	Queries, Complete, Owed int
	// Switched is the number of moves.
	Switched int
	// Digest is a hash of what the mappers sent and saved, and of the final state. It is the same
	// whenever the same scenario is played.
	Digest uint64
}

// Play plays a scenario, checks all promises after every event, and then lets the cluster come to rest.
// The error says which promise was broken (fault.Internal) or what is wrong with the scenario
// (fault.Invalid). If log is not nil, it is called with what happens.
func Play(s Scenario, log func(format string, args ...any)) (Outcome, error) {
	w := newWorld(s.config(), playTimes())
	w.checks, w.log = newChecks(w), log
	for i := range s.Items {
		w.db.write(key(i%owners, i/owners), uint32(1+mix(uint64(i))%50), false)
	}
	w.start()
	if s.Changes > 0 {
		r := w.rnd.fork("changes")
		w.every(&w.db.process, time.Second/time.Duration(s.Changes), func() {
			if w.now < s.Duration {
				w.change(r)
			}
		})
	}
	for _, e := range s.Events {
		w.at(e.At, func() {
			if w.log != nil {
				w.log("%v: %s", w.now, e)
			}
			w.inject(e)
		})
	}
	w.run(s.Duration)
	w.rest()
	return w.outcome(), w.broken
}

func (w *world) outcome() Outcome {
	return Outcome{
		Events: w.events, Time: w.now, Queries: w.checks.answers, Complete: w.checks.complete, Owed: w.checks.owed,
		Switched: len(w.checks.switched), Digest: w.digest(),
	}
}

// digest returns a hash of what happened, and of the final state.
func (w *world) digest() uint64 {
	d := mix(uint64(w.history) ^ mix(w.events^mix(uint64(w.now)^mix(w.db.clock^w.rnd.state))))
	d = mix(d ^ uint64(sum(0).add(string(w.db.state))))
	for _, s := range w.slaves {
		k := s.disk
		d = mix(d ^ uint64(sum(0).add(k.position.String()+list(k.table))))
		k.keys.Ascend(0, balance.MaxKey, func(key balance.Key, _ uint32) bool {
			d = mix(d ^ mix(uint64(key)^mix(k.items[key].posted)))
			return true
		})
	}
	return d
}

// rest ends all faults except cuts, which end by themselves, and waits until nothing is under way.
func (w *world) rest() {
	for _, s := range w.slaves {
		s.full, s.slow = false, 1
		w.revive(s.name)
	}
	for _, d := range w.distributors {
		d.slow = 1
		w.revive(d.name)
	}
	for _, m := range w.masters {
		m.slow = 1
		w.revive(m.name)
	}
	w.balancers[len(w.balancers)-1].slow = 1
	w.revive("b")
	w.at(w.now, func() { w.inject(Event{Do: "pause"}) })
	until := w.now + playRest
	why := "begin"
	for w.broken == nil && why != "" && w.now < until {
		w.run(w.now + 200*time.Millisecond)
		if b, err := w.running(); err == nil { // the balancer may have started after the pause
			b.mapper.Pause(true)
		}
		why = w.unrest()
	}
	if why != "" {
		w.fail("no rest after %v without faults: %s", playRest, why)
	}
}

// damaged says which damage the scrub has not found yet, or returns "" if there is none.
func (s *slave) damaged() string {
	for _, k := range s.disk.held(0, balance.MaxKey) {
		if s.disk.items[k].flipped > 0 {
			return fmt.Sprintf("%s serves item %x, which is damaged", s.name, uint64(k))
		}
		if s.disk.parents[parentOf(k)] >= flippedParent {
			return fmt.Sprintf("%s serves item %x, whose parent is damaged", s.name, uint64(k))
		}
	}
	return ""
}

// within returns the number of items in the slices of a table.
func (w *world) within(t balance.Table) (n int) {
	for _, h := range t.Slices {
		for _, k := range w.db.within(h.Lo, h.Hi) {
			if _, there := w.db.items[k]; there {
				n++
			}
		}
	}
	return n
}

// unrest says what is still under way, or returns "" if nothing is.
func (w *world) unrest() string {
	b, err := w.running()
	if err != nil || b.mapper.Model() == nil {
		if len(w.slaves) < w.cfg.Slaves {
			return ""
		}
		return "there is no model"
	}
	m := b.mapper.Model()
	for _, v := range m.Slices() {
		if v.Move.Phase != balance.NoMove {
			sh, _ := m.Shard(v.Shard)
			return describe(v, sh.Name)
		}
	}
	if p := b.mapper.Published(); p == nil || p.View() != m.View() {
		return "the newest view is not published"
	}
	for _, v := range w.masters {
		if v.have.View != m.View() || v.have.Revision != m.Revision() {
			return v.name + " has an older map"
		}
	}
	for _, sh := range m.Shards() {
		if sh.State == balance.Dissolving {
			return "shard " + sh.Name + " has not ended"
		}
	}
	for _, s := range w.slaves {
		v, known := m.Slave(s.name)
		if !known {
			return s.name + " is not in the model"
		}
		want := m.TableOf(s.name)
		switch t := s.disk.table; {
		case !s.caughtUp:
			return s.name + " has not caught up"
		case v.Shard != 0 && !v.In:
			return s.name + " has not joined the set of its shard"
		case v.Left != 0:
			return s.name + " has left its shard and may not delete what it held"
		case !t.Equal(want):
			return s.name + " does not hold what it should: " + differs(t, want)
		case s.disk.position.Clock < w.db.clock:
			return s.name + " has not all changes"
		case s.damaged() != "":
			return s.damaged()
		}
		if n := w.within(want); n != len(s.disk.items) {
			return fmt.Sprintf("%s holds %d items, there are %d for it", s.name, len(s.disk.items), n)
		}
	}
	return ""
}
