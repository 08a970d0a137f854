package overload

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

const deadline = 500 * time.Millisecond

// costs returns a random processor time for a search. Most are short; one in ten is ten times as long, up
// to a quarter of the deadline.
func costs(w *world, mean time.Duration) time.Duration {
	c := w.rnd.ExpFloat64() * float64(mean) / 1.9
	if w.rnd.IntN(10) == 0 {
		c *= 10
	}
	return min(time.Duration(c), deadline/4) + 1
}

// tally counts by second what happened to searches.
type tally struct {
	good    [60]int           // answered in time
	work    [60]time.Duration // processor time of those
	refused [60]int
	took    []time.Duration
}

func (c *tally) refusals(from, to int) (n int) {
	for _, r := range c.refused[from:to] {
		n += r
	}
	return n
}

// search makes a machine answer a search, and counts the result.
func (c *tally) search(m *machine, r Request, cost time.Duration) {
	began := m.w.now
	m.search(r, cost, func(ok bool) {
		took := m.w.now - began
		second := min(int(m.w.now/time.Second), len(c.good)-1)
		switch {
		case !ok:
			c.refused[second]++
			return
		case took <= deadline:
			c.good[second]++
			c.work[second] += cost
		}
		c.took = append(c.took, took)
	})
}

func percentile(list []time.Duration, share float64) time.Duration {
	slices.Sort(list)
	return list[int(float64(len(list)-1)*share)]
}

// TestOverloadOfAMachine: a machine gets half of its capacity for five seconds, five times its capacity
// for twenty seconds, and half of it again. No second of the overload is lost and answers are in time.
// Nothing is refused before the overload, or later than a second after it.
func TestOverloadOfAMachine(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := newWorld(seed)
			cores := 1 + w.rnd.IntN(4)
			mean := time.Duration(1000+w.rnd.IntN(9000)) * time.Microsecond
			m := newMachine(t, w, cores, 1024)
			peak := float64(cores) / mean.Seconds()
			c := new(tally)
			search := func() { c.search(m, Request{Left: deadline}, costs(w, mean)) }
			w.offer(peak/2, 30*time.Second, search)
			w.at(5*time.Second, func() { w.offer(peak*4.5, 25*time.Second, search) })
			w.run(31 * time.Second)
			var sum time.Duration
			for s := 6; s < 25; s++ {
				if sum += c.work[s]; c.work[s].Seconds() < 0.6*float64(cores) {
					t.Errorf("second %d: %v of processor time was of use, on %d cores", s, c.work[s], cores)
				}
			}
			if share := sum.Seconds() / 19 / float64(cores); share < 0.9 {
				t.Errorf("%.0f %% of what the machine can do was answered in time", share*100)
			}
			if p := percentile(c.took, 0.99); p > deadline {
				t.Errorf("99 %% of the answers took up to %v", p)
			}
			before, after, all := c.refusals(0, 5), c.refusals(26, 31), float64(peak/2*5)
			if float64(before) > all/100 || float64(after) > all/100 {
				t.Errorf("%d refused before and %d after the overload of %.0f each", before, after, all)
			}
			if c.refusals(5, 25) == 0 {
				t.Error("nothing was refused: this is not an overload")
			}
		})
	}
}

// TestWithoutALimitNothingIsInTime: the simulated machine needs a limit.
func TestWithoutALimitNothingIsInTime(t *testing.T) {
	w := newWorld(1)
	m := newMachine(t, w, 2, 1<<20)
	m.gate.cfg.Least, m.gate.slots = 1<<20, 1<<20
	c := new(tally)
	w.offer(5*2/0.005, 4*time.Second, func() { c.search(m, Request{Left: time.Hour}, costs(w, 5*time.Millisecond)) })
	w.run(4 * time.Second)
	if c.work[3].Seconds() > 0.2*2 {
		t.Errorf("%v of two seconds were useful", c.work[3])
	}
}

// TestAnIdleGateAdmitsABurst: an idle gate admits as many searches as it has places, whatever it has
// learned.
func TestAnIdleGateAdmitsABurst(t *testing.T) {
	l := newLimiter(Config{Most: 100, Least: 2, Start: 2})
	for n := range 100 {
		if enter(l, 0, Request{Left: deadline}, func() {}) == nil {
			t.Fatalf("search %d of a burst was refused", n)
		}
	}
	if enter(l, 0, Request{Left: deadline}, func() {}) != nil {
		t.Error("more than all places are taken")
	}
	one := newLimiter(Config{Most: 100, Least: 1, Start: 1})
	first := enter(one, 0, Request{Left: deadline, Low: true}, nil)
	one.leave(time.Hour, first) // the next search is expected to take as long
	if enter(one, time.Hour, Request{Left: time.Millisecond, Low: true}, nil) == nil {
		t.Error("an idle gate refuses")
	}
}

// TestTenantsAndPriorities: a tenant that asks for less than its share gets it, even beside one that asks
// for ten times the machine's capacity. Searches of normal priority are not affected by those of low
// priority.
func TestTenantsAndPriorities(t *testing.T) {
	for seed := range uint64(4) {
		for name, requests := range map[string][2]Request{
			"tenants":    {{Tenant: "flood", Left: deadline}, {Tenant: "other", Left: deadline}},
			"sources":    {{Source: "flood", Left: deadline}, {Source: "other", Left: deadline}},
			"priorities": {{Low: true, Left: deadline}, {Left: deadline}},
		} {
			t.Run(fmt.Sprint(name, seed), func(t *testing.T) {
				w := newWorld(seed)
				const cores, mean = 2, 4 * time.Millisecond
				m := newMachine(t, w, cores, 256)
				peak := cores / mean.Seconds()
				var flood, other tally
				w.offer(peak*10, 20*time.Second, func() { flood.search(m, requests[0], costs(w, mean)) })
				w.offer(peak*0.3, 20*time.Second, func() { other.search(m, requests[1], costs(w, mean)) })
				w.run(20 * time.Second)
				if n, all := other.refusals(1, 20), peak*0.3*19; float64(n) > all/15 {
					t.Errorf("%d of %.0f are refused because of others", n, all)
				}
				var work time.Duration
				for s := 1; s < 20; s++ {
					work += flood.work[s] + other.work[s]
				}
				if share := work.Seconds() / cores / 19; share < 0.85 {
					t.Errorf("the machine is used by %.0f %%", share*100)
				}
			})
		}
	}
}

// TestAMasterOverSlaves: a query is complete if none of three slaves refuses its part. The slaves refuse
// by themselves, and the master prevents that. Whatever the master or a slave refuses is refused on
// arrival.
func TestAMasterOverSlaves(t *testing.T) {
	for seed := range uint64(10) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := newWorld(seed)
			mean := time.Duration(1000+w.rnd.IntN(8000)) * time.Microsecond
			var slaves []*machine
			for range 3 {
				slaves = append(slaves, newMachine(t, w, 1, 128))
			}
			cfg := ForMaster(256)
			cfg.Delay = nil
			master := newLimiter(cfg)
			peak := 1 / mean.Seconds()
			var complete, asked [40]int
			query := func() {
				began := w.now
				asked[min(39, int(began/time.Second))]++
				ticket := enter(master, w.now, Request{Left: deadline}, func() {
					t.Error("a search waited at the master; a slave may refuse it now, late")
				})
				if ticket == nil || ticket.waiting != nil {
					return
				}
				left, refused := len(slaves), false
				for _, s := range slaves {
					s.search(Request{Left: deadline}, costs(w, mean), func(ok bool) {
						refused = refused || !ok
						if left--; left > 0 {
							return
						}
						ticket.refused = refused
						master.leave(w.now, ticket)
						if !refused && w.now-began <= deadline {
							complete[min(39, int(w.now/time.Second))]++
						}
					})
				}
			}
			w.offer(peak/2, 30*time.Second, query)
			w.at(5*time.Second, func() { w.offer(peak*4.5, 25*time.Second, query) })
			w.run(31 * time.Second)
			sum, least := 0, complete[8]
			for s := 8; s < 25; s++ {
				sum += complete[s]
				least = min(least, complete[s])
			}
			if share := float64(sum) / 17 / peak; share < 0.75 {
				t.Errorf("%.0f %% of the peak are complete", share*100)
			}
			if float64(least) < peak/2 {
				t.Errorf("only %d complete in one second, of %.0f", least, peak)
			}
			// Half of the capacity is so little that nothing should be refused.
			after, due := complete[27]+complete[28]+complete[29], asked[27]+asked[28]+asked[29]
			if float64(after) < 0.95*float64(due) {
				t.Errorf("%d complete a second after the overload, of %d", after, due)
			}
		})
	}
}

// TestAStopOfAThread: short searches continue to wait in order when one took long because the operating
// system gave its processor to other processes. They are refused when all of them take that long.
func TestAStopOfAThread(t *testing.T) {
	const short, most = 20 * time.Microsecond, 4000
	l, now := newLimiter(Config{Most: most, Least: 1, Start: 1}), time.Duration(0)
	search := func(took time.Duration) {
		var v ticket
		r := Request{Left: 500 * time.Millisecond}
		v.source, v.tenant, _ = l.admit(now, r)
		v.left = r.Left
		l.enqueue(now, &v)
		now += took
		l.leave(now, &v)
	}
	for range 10_000 {
		search(short)
	}
	for range 3 {
		search(30 * time.Millisecond)
	}
	if n := l.capacity(500 * time.Millisecond); n < 2000 {
		t.Errorf("after three that were stopped there is room for %d", n)
	}
	for range 400 {
		search(3 * time.Millisecond)
	}
	if n := l.capacity(500 * time.Millisecond); n > 60 {
		t.Errorf("there is room for %d searches of 3 ms in 125 ms", n)
	}
}
