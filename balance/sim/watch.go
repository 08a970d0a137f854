package sim

import (
	"adshard/balance"
	"adshard/balance/maps"
)

// watcher is a request of a master that waits at a balancer for a newer map.
type watcher struct {
	m     *master
	name  string // of the master in this life
	life  uint64
	have  maps.Version
	over  bool // it has waited long enough
	reply func(*balance.Model)
	lost  func()
}

// watch keeps a request until there is a newer map or its time is up. It reports the
// master's view to the mapper when the master begins to wait, and again when it stops
// waiting, since the master uses that view all the time.
func (b *balancer) watch(v *watcher) {
	if b.mapper == nil {
		v.lost()
		return
	}
	b.watchers = append(b.watchers, v)
	life := b.life
	b.w.after(b.w.times.watch, func() {
		if v.over = true; b.up && b.life == life {
			b.wake()
		}
	})
	b.hear(v)
	b.wake()
}

// hear reports a master's view to the mapper.
func (b *balancer) hear(v *watcher) {
	if v.m.life == v.life {
		v.m.heard, v.m.heardAt, v.m.heardByNewest = v.have, b.w.now, b.epoch == b.w.db.epoch
	}
	b.w.must(b.mapper.Master(b.time(), v.name, v.have.View, v.have.Revision), "hear a master")
	b.carry()
}

// wake answers the requests whose time is up or for which there is a newer map.
func (b *balancer) wake() {
	var due, still []*watcher
	for _, v := range b.watchers {
		if v.over || b.mapper.MapFor(v.have) != nil {
			due = append(due, v)
		} else {
			still = append(still, v)
		}
	}
	b.watchers = still
	for _, v := range due {
		v.reply(b.mapper.MapFor(v.have))
		b.hear(v)
	}
}
