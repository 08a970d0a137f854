package sim

import (
	"fmt"
	"time"

	"adshard/balance"
)

// newWorld makes a cluster in which nothing runs yet.
func newWorld(cfg Config, t times) *world {
	w := &world{cfg: cfg, times: t, rnd: (&source{state: cfg.Seed}).fork("world"), db: newDatabase(), maps: map[uint64]*balance.Model{}, sets: map[uint64]*balance.Model{}, current: cfg.Initial}
	w.net = network{w: w, last: map[connection]time.Duration{}, chaos: w.rnd.fork("network")}
	w.newBalancer("b")
	for i := range cfg.Slaves {
		w.newSlave(fmt.Sprint("s", i+1))
	}
	for i := range cfg.Distributors {
		w.newDistributor(fmt.Sprint("d", i+1))
	}
	for i := range cfg.Masters {
		w.masters = append(w.masters, &master{w: w, process: process{name: fmt.Sprint("m", i+1), slow: 1}})
	}
	return w
}

// start starts all processes.
func (w *world) start() {
	w.balancers[0].run()
	for _, d := range w.distributors {
		d.run()
	}
	for _, s := range w.slaves {
		s.run()
	}
	for _, m := range w.masters {
		m.run()
	}
}

func (w *world) newSlave(name string) *slave {
	s := &slave{w: w, process: process{name: name, slow: 1}, disk: newDisk()}
	w.slaves = append(w.slaves, s)
	return s
}

func (w *world) newDistributor(name string) *distributor {
	d := &distributor{w: w, process: process{name: name, slow: 1}, chaos: w.rnd.fork(name)}
	w.distributors = append(w.distributors, d)
	return d
}

// newBalancer makes a balancer. It has a distributor of its own if there are no others.
func (w *world) newBalancer(name string) *balancer {
	b := &balancer{w: w, process: process{name: name, slow: 1}}
	if w.cfg.Distributors == 0 {
		b.own = &distributor{w: w, process: process{name: "d of " + name, slow: 1, host: &b.process}, balancer: b, chaos: w.rnd.fork(name)}
	}
	w.balancers = append(w.balancers, b)
	return b
}
