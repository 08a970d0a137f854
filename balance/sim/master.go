package sim

import (
	"fmt"
	"slices"
	"time"

	"adshard/balance"
	"adshard/balance/maps"
	"adshard/fault"
)

// master asks a slave of each shard in the view that it has. It learns its map as the
// product's masters do: balance.MapWatch and balance.MapVersion decide.
type master struct {
	process
	w     *world
	have  maps.Version
	model *balance.Model // of the map; nil: none
	watch maps.Watch
	// provisional: the map is one that not all slaves have acknowledged. A master
	// without any gets it from a balancer that has none other since it started; one without
	// any, or whose view slaves no longer serve, gets it from slaves, while no balancer is there,
	// when it does not hear all.
	provisional bool

	asking   bool     // slaves, for a map
	outdated bool     // a slave refused the view while they were being asked
	waiting  []func() // queries, for a newer map

	// What the balancer last heard of it, for checks: by which map it asks,
	// when, and whether the balancer of the newest epoch heard it.
	heard         maps.Version
	heardAt       time.Duration
	heardByNewest bool
}

// run is the life of the process. It keeps no map.
func (m *master) run() {
	m.start()
	m.have, m.model, m.waiting, m.heard = maps.Version{}, nil, nil, maps.Version{}
	m.asking, m.outdated, m.provisional = false, false, false
	m.watch = maps.NewWatch(m.w.times.maps)
	m.later(m.w.jitter(m.w.cfg.Latency), m.poll)
	if m.w.checks != nil {
		m.w.every(&m.process, 2*m.w.times.poll, m.ask)
	}
}

// later has the process do something after a while, if it still runs.
func (m *master) later(d time.Duration, what func()) {
	life := m.life
	m.w.after(d, func() {
		if m.up && m.life == life {
			what()
		}
	})
}

// poll waits at the balancer for a newer map, again and again.
func (m *master) poll() {
	life, have := m.life, m.have
	name := fmt.Sprint(m.name, "/", life) // each life has another, as in the product
	failed := func() { m.polled(false, fault.Newf(fault.Unavailable, "sim: ask for the map", "the balancer is away")) }
	b := m.w.balancerOf(&m.process)
	if b == nil {
		m.later(m.w.cfg.Latency, failed)
		return
	}
	m.w.net.do(call{
		from: &m.process, to: &b.process, channel: control, timeout: m.w.times.watch + m.w.times.timeout, failed: failed,
		wait: func(reply func(func()), lost func()) {
			b.watch(&watcher{m: m, name: name, life: life, have: have, lost: lost, reply: func(model *balance.Model) {
				as := maps.Version{Epoch: b.epoch, Filled: model != nil && b.mapper.Model().Filled()}
				provisional := model != b.mapper.Published() && (have.View == 0 || m.provisional)
				reply(func() { m.offered(as, model, provisional) })
			}})
		},
	})
}

// offered takes a balancer's answer to a request that had a map.
func (m *master) offered(as maps.Version, model *balance.Model, provisional bool) {
	if model == nil {
		m.polled(true, nil)
		return
	}
	as.View, as.Revision = model.View(), model.Revision()
	if err := m.have.Accept(as); err != nil {
		m.polled(false, err)
		return
	}
	m.polled(m.adopt(as, model, provisional), nil)
}

// polled goes on after a request to the balancer.
func (m *master) polled(fresh bool, err error) {
	pause := m.watch.Polled(m.w.now, fresh, err)
	again := func() { m.later(pause, m.poll) }
	if err != nil && m.watch.AskSlaves(m.w.now, m.have, false) {
		m.learn(again)
		return
	}
	again()
}

// adopt makes a map the newest and reports whether it is another.
func (m *master) adopt(as maps.Version, model *balance.Model, provisional bool) bool {
	if as == m.have {
		return false
	}
	m.have, m.model, m.provisional = as, model, provisional
	if m.w.checks != nil {
		m.w.checks.dirty = true
	}
	waiting := m.waiting
	m.waiting = nil
	for _, goOn := range waiting {
		goOn()
	}
	return true
}

// help asks the slaves for a newer map, since one of them no longer serves the view
// of the current one, if the balancer is away.
func (m *master) help() {
	if m.asking {
		m.outdated = true
		return
	}
	if !m.watch.AskSlaves(m.w.now, m.have, true) {
		return
	}
	m.asking, m.outdated = true, false
	m.learn(func() {
		m.later(m.w.times.maps.FirstPause, func() {
			if m.asking = false; m.outdated {
				m.help()
			}
		})
	})
}

// learn asks all slaves for the map that they have received.
func (m *master) learn(then func()) {
	var received []maps.SlaveMap
	var models []*balance.Model
	heard := make(map[string]bool)
	open := len(m.w.slaves)
	done := func() {
		if open--; open > 0 {
			return
		}
		if best, as, err := m.have.Choose(received); err == nil {
			unheard := func(s balance.Slave) bool { return s.In && !heard[s.Name] }
			m.adopt(as, models[best], slices.ContainsFunc(models[best].Slaves(), unheard))
		}
		then()
	}
	for _, s := range m.w.slaves {
		m.w.net.do(call{
			from: &m.process, to: &s.process, channel: queries, timeout: m.w.times.seed, failed: done,
			serve: func() func() {
				t := s.disk.table
				v := maps.SlaveMap{Version: maps.Version{Epoch: s.disk.position.Epoch, View: t.View, Revision: t.Revision, Filled: t.Filled}, Least: t.Least}
				model, sets := m.w.maps[t.View], m.w.sets[t.Revision]
				return func() {
					if model != nil && sets != nil {
						received, models = append(received, v), append(models, model.WithMembers(sets))
						heard[s.name] = true
					}
					done()
				}
			},
		})
	}
}
