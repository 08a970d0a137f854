package sim

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"adshard/balance/strategy"
)

// Generate makes a scenario from a seed: a cluster and events that happen to it.
func Generate(seed uint64) Scenario {
	r := (&source{state: seed}).fork("scenario")
	s := Scenario{
		Seed: seed, Slaves: 1 + r.below(5), Distributors: r.below(4), Masters: 1 + r.below(2),
		Items: r.below(60), Changes: r.below(30), Duration: 12 * time.Second,
	}
	g := generator{r: r, s: &s, slaves: s.Slaves, distributors: s.Distributors}
	replicated := (&source{state: seed}).fork("replicas")
	if replicated.chance(2) {
		s.Replicas = 2 + replicated.below(2)
		s.Slaves += replicated.below(4)
		g.slaves = s.Slaves
	}
	// A third of the scenarios have no faults. In these, every query must be complete.
	faults := !r.chance(3)
	for range 4 + r.below(30) {
		if faults && r.chance(2) {
			g.fault()
		} else {
			g.order()
		}
	}
	if r := (&source{state: seed}).fork("removal"); faults && r.chance(4) {
		g.r = r
		g.removal()
	}
	if r := (&source{state: seed}).fork("hot"); r.chance(3) {
		g.r = r
		g.hot()
	}
	if g.r = replicated; replicated.chance(3) {
		for range 1 + replicated.below(3) {
			g.add(Event{Do: "replicas", N: 1 + replicated.next()%3})
		}
	}
	oneWay := (&source{state: seed}).fork("one way")
	for i := range s.Events {
		if e := &s.Events[i]; e.Do == "cut" && oneWay.chance(3) {
			e.How = "mute"
		}
	}
	techniques := (&source{state: seed}).fork("techniques")
	for i := range s.Events {
		if e := &s.Events[i]; e.Do == "strategy" && techniques.chance(2) {
			names := append(strategy.Names(), "keeper", "keeper", "keeper")
			e.Who = names[techniques.below(len(names))]
		}
	}
	slices.SortStableFunc(s.Events, func(a, b Event) int { return cmp.Compare(a.At, b.At) })
	return s
}

type generator struct {
	r                    *source
	s                    *Scenario
	slaves, distributors int
}

func (g *generator) add(e Event) {
	e.At = time.Duration(g.r.below(int(g.s.Duration/time.Millisecond))) * time.Millisecond
	g.s.Events = append(g.s.Events, e)
}

// a returns a random time of up to `most`. Most of the times are short.
func (g *generator) a(most time.Duration) time.Duration {
	return time.Duration(g.r.float()*g.r.float()*float64(most/time.Millisecond)+1) * time.Millisecond
}

func (g *generator) slave() string { return fmt.Sprint("s", 1+g.r.below(g.slaves)) }

func (g *generator) distributor() string { return fmt.Sprint("d", 1+g.r.below(max(1, g.distributors))) }

func (g *generator) master() string { return fmt.Sprint("m", 1+g.r.below(g.s.Masters)) }

func (g *generator) anybody() string {
	switch g.r.below(5) {
	case 0:
		return "b"
	case 1:
		return g.distributor()
	case 2:
		return g.master()
	}
	return g.slave()
}

func (g *generator) pick(list ...string) string { return list[g.r.below(len(list))] }

// order adds an event that people or applications cause.
func (g *generator) order() {
	n := g.r.next() >> 40
	switch g.r.below(18) {
	case 0, 1, 2, 3, 4, 5:
		g.add(Event{Do: "move", N: n})
	case 6:
		g.add(Event{Do: "drain", Who: g.slave()})
	case 7:
		g.add(Event{Do: "restore", Who: g.slave()})
	case 8, 9:
		g.add(Event{Do: "strategy", Who: g.pick("original", "chaos", "chaos", "random", "weighted-move")})
	case 10:
		g.add(Event{Do: g.pick("pause", "resume")})
	case 11:
		g.add(Event{Do: "burst", N: 1 + n%150})
	case 12:
		g.slaves++
		g.add(Event{Do: "join", Who: fmt.Sprint("s", g.slaves)})
	case 13:
		g.distributors++
		g.add(Event{Do: "add", Who: fmt.Sprint("d", g.distributors)})
	case 14:
		g.add(Event{Do: g.pick("write", "delete", "parent"), N: n})
	case 15:
		g.add(Event{Do: "backup", Who: g.slave()})
	case 16:
		g.add(Event{Do: "bounce", For: g.a(8 * time.Second)})
	case 17:
		g.add(Event{Do: "absurd", Who: g.slave(), For: g.a(3 * time.Second)})
	}
}

// fault adds a fault.
func (g *generator) fault() {
	switch g.r.below(17) {
	case 16:
		g.add(Event{Do: "damage", For: g.a(3 * time.Second)})
	case 0, 1, 2:
		g.add(Event{Do: "crash", Who: g.slave(), For: g.a(4 * time.Second), How: g.pick("", "", "empty", "old")})
	case 3, 4:
		g.add(Event{Do: "crash", Who: "b", For: g.a(3 * time.Second)})
	case 5, 6:
		g.add(Event{Do: "crash", Who: g.distributor(), For: g.a(3 * time.Second)})
	case 7:
		g.add(Event{Do: "crash", Who: g.master(), For: g.a(time.Second)})
	case 8, 9:
		g.add(Event{Do: "cut", Who: g.anybody(), To: g.pick("", g.anybody()), For: g.a(5 * time.Second), How: g.pick("", "drop")})
	case 10:
		g.add(Event{Do: "slow", Who: g.anybody(), For: g.a(4 * time.Second), N: []uint64{10, 100}[g.r.below(2)]})
	case 11:
		g.add(Event{Do: "full", Who: g.slave(), For: g.a(8 * time.Second)})
	case 12:
		g.add(Event{Do: "flip", Who: g.slave(), N: g.r.next() >> 40})
	case 13:
		g.add(Event{Do: "second", Who: "b"})
	case 14:
		if g.r.chance(2) {
			g.add(Event{Do: "clock", Who: "b", For: g.a(2 * time.Second), How: "back"})
		} else {
			g.add(Event{Do: "clock", Who: "b", For: time.Hour})
		}
	case 15:
		g.add(Event{Do: "remove", Who: g.distributor()})
	}
}

// hot adds items that change again and again and are so large that their changes are deferred:
// items of more than some 3, 6 or 12 units of weight.
func (g *generator) hot() {
	g.s.Repeat = 80_000 << g.r.below(3)
	for range 1 + g.r.below(3) {
		g.add(Event{Do: "churn", N: 1 + g.r.next()%2, For: g.a(6 * time.Second)})
	}
}

// removal removes a slave for good: it may be drained, dies, and is removed from the model. It
// may come back after all, as a new slave of the same name.
func (g *generator) removal() {
	who, at := g.slave(), g.a(4*time.Second)
	if g.r.chance(2) {
		g.s.Events = append(g.s.Events, Event{At: at, Do: "drain", Who: who})
		at += g.a(3 * time.Second)
	}
	g.s.Events = append(g.s.Events, Event{At: at, Do: "crash", Who: who, For: 2*time.Second + g.a(10*time.Second), How: g.pick("", "empty", "old")})
	for range 3 { // refused while the slave has slices
		at += time.Second + g.a(2*time.Second)
		g.s.Events = append(g.s.Events, Event{At: min(at, g.s.Duration-time.Millisecond), Do: "forget", Who: who})
	}
}
