package query

import (
	"adshard/barrels/index"
	"adshard/barrels/kv"
)

// metHosts remembers which sets of hosts the blocks of a request meet. Each slot keeps the last set.
type metHosts struct {
	slots [hostSlots]metSet
	round uint32 // of the request
}

// metSet says whether blocks meet all ads of a set of hosts, or none.
type metSet struct {
	number, round uint32
	all, none     bool
}

const hostSlots = 256

// reset begins a request.
func (m *metHosts) reset() {
	if m.round++; m.round == 0 { // old round numbers may come again
		m.slots, m.round = [hostSlots]metSet{}, 1
	}
}

// met returns which ads of a set of hosts the request's blocks meet, or nil if no set has the number or it was dropped.
func (e *eligibility) met(number uint32) *metSet {
	c := &e.context
	m := &c.hosts.slots[number%hostSlots]
	if m.number == number && m.round == c.hosts.round {
		return m
	}
	set := e.caches.Hosts.Of(number)
	if set == nil {
		return nil
	}
	*m = metSet{number: number, round: c.hosts.round, all: !set.Open, none: !set.Refused}
	for _, host := range set.Hosts {
		if c.request.BlocksHost(host) {
			m.none = false
		} else {
			m.all = false
		}
	}
	return m
}

// pageBlocked is urlBlocked for a posting of a cached block.
func (e *eligibility) pageBlocked(b *index.Block, posting int) bool {
	v := &b.View
	g := v.GroupOf(posting)
	number := b.Hosts(g, e.caches.Groups, e.state.Number)
	met := e.met(number)
	if met == nil && number != index.HostsByKeyword {
		if group, ok := e.group(v.GroupKey(g)); ok {
			number = e.caches.Hosts.Number(group)
			b.SetHosts(g, number, e.state.Number, e.caches.Lists)
			met = e.met(number)
		}
	}
	if met == nil {
		return e.urlBlocked(kv.Place{Key: v.GroupKey(g), Keyword: v.Keyword(posting)})
	}
	return met.all
}
