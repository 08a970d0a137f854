package sim

import (
	"fmt"
	"slices"
	"time"

	"adshard/balance"
	"adshard/balance/maps"
	"adshard/fault"
)

// master asks one slave of each shard in the view that it has. It learns its map as a real master
// does: maps.Watch and maps.Version decide.
type master struct {
	process
	w     *world
	have  maps.Version
	model *balance.Model // the map; nil if there is none
	watch maps.Watch
	// provisional says that the map is one that not all slaves have acknowledged. A master
	// without a map gets such a map from a balancer that has none other since its start. While
	// there is no balancer, a master gets one from slaves, if it has no map or slaves no longer
	// serve its view and it does not hear from all slaves.
	provisional bool

	asking   bool     // whether it asks slaves for a map
	outdated bool     // a slave rejected the view while they were being asked
	waiting  []func() // queries that wait for a newer map

	// What the balancer last heard from the master, for checks: which map it has, when that was,
	// and whether it was the balancer of the newest epoch.
	heard         maps.Version
	heardAt       time.Duration
	heardByNewest bool
}

// run is the life of the process. It starts without a map.
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

// later calls a function after a while, if the process still runs.
func (m *master) later(d time.Duration, what func()) {
	life := m.life
	m.w.after(d, func() {
		if m.up && m.life == life {
			what()
		}
	})
}

// poll asks the balancer for a newer map, again and again, and waits there for one.
func (m *master) poll() {
	life, have := m.life, m.have
	name := fmt.Sprint(m.name, "/", life) // the name is different for each life, as in production
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

// offered takes a balancer's answer to a request.
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

// polled continues after a request to the balancer.
func (m *master) polled(fresh bool, err error) {
	pause := m.watch.Polled(m.w.now, fresh, err)
	again := func() { m.later(pause, m.poll) }
	if err != nil && m.watch.AskSlaves(m.w.now, m.have, false) {
		m.learn(again)
		return
	}
	again()
}

// adopt makes a map the current one, and reports whether it differs from the previous one.
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

// help asks the slaves for a newer map if the balancer is away, since one of them no longer
// serves the view of the current map.
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

// learn asks all slaves for the maps that they have received.
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
