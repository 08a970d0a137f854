package replicas

import (
	"maps"
	"slices"
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
)

// A slave that holds less than half of what its shard serves is filled with a copy of a sibling's store, if there is a
// living sibling. Other slaves are filled by node data. Which siblings may be copied follows from the model and the
// reports of slaves, so it need not be durable: a new mapper determines it again.
//
// In a complete copy, the keys that the sibling served all the time are taken as certified: the bytes are the
// sibling's, and both stores apply the same log.

// filling is how a slave is being filled, and what is known about its data before they are compared.
type filling struct {
	shard balance.ShardID
	// sources has the siblings that the slave may copy. For each, it has the keys that the sibling has served since it
	// was first named.
	sources map[string][]balance.Interval
	// copied has the keys of the slave's copy that are taken as certified. source is the slave that was copied.
	copied []balance.Interval
	source string
	// differed is set if the slave had to discard data that differed from the source of truth, and does not have
	// everything again yet. Its siblings may have the same damage.
	differed bool
	// most says whether the slave held most of what its shard serves at the time looked.
	most   bool
	looked time.Duration
	kept   kept
}

// filling returns the state of the filling of a slave.
func (m *Membership) filling(name string) *filling {
	f := m.fillings[name]
	if f == nil {
		f = &filling{}
		m.fillings[name] = f
	}
	return f
}

// Forget drops the state of a slave that is no longer in the model.
func (m *Membership) Forget(slave string) { delete(m.fillings, slave) }

// Joined takes what a slave that joins says about its store. c is nil if the store is not a copy.
func (m *Membership) Joined(name string, c *balance.Copied) {
	m.filling(name).looked = 0
	if c != nil {
		m.takeCopy(name, c)
	}
}

// HoldsOther must be called after a change of the keys that a slave holds.
func (m *Membership) HoldsOther(name string) {
	m.reserved(name)
	m.retain(name)
}

// shareGap is the time between two checks of how much a slave holds.
const shareGap = 5 * time.Second

// CopyFrom returns the shard of a slave that is to be filled with a copy, and the replicas that may be copied, in the
// order of preference. It returns none if the slave is not to be filled in this way.
func (m *Membership) CopyFrom(now time.Duration, name string) (shard string, siblings []balance.Slave) {
	s, ok := balance.Slave{}, false
	if m.Model != nil {
		s, ok = m.Model.Slave(name)
	}
	if !ok || s.Shard == 0 || !m.hollow(now, s) {
		if f := m.fillings[name]; f != nil {
			f.sources = nil
			f.differed = f.differed && !(ok && m.Complete(s) && !m.verify.DiscardsAny(name))
		}
		return "", nil
	}
	r := m.filling(name)
	if r.differed {
		r.sources = nil
		return "", nil
	}
	if r.sources == nil {
		r.sources = map[string][]balance.Interval{}
	}
	for _, o := range m.Model.Set(s.Shard) {
		served, known := r.sources[o.Name]
		if o.Name == name || o.Address == "" || !m.Alive(o.Name, now) || m.verify.DiscardsAny(o.Name) ||
			known && len(served) == 0 || !known && !m.Complete(o) {
			continue
		}
		if !known {
			r.sources[o.Name] = m.Slaves[o.Name].Table.Served()
		}
		siblings = append(siblings, o)
	}
	// Each slave begins with the sibling that follows it by name, so that not all copy the same one.
	after := slices.IndexFunc(siblings, func(o balance.Slave) bool { return o.Name > name })
	if after > 0 {
		siblings = slices.Concat(siblings[after:], siblings[:after])
	}
	return m.Name(s.Shard), siblings
}

// hollow reports whether a slave lacks most of what its shard serves, so that it should not be asked: its directory was
// emptied, or it has just got the shard.
func (m *Membership) hollow(now time.Duration, s balance.Slave) bool {
	n := m.Slaves[s.Name]
	if n == nil || !n.Reported || !m.Alive(s.Name, now) || m.Complete(s) {
		return false
	}
	r := m.filling(s.Name)
	if r.shard != s.Shard {
		*r = filling{shard: s.Shard, kept: r.kept}
	}
	if r.looked == 0 || now >= r.looked+shareGap {
		r.most, r.looked = m.holdsMost(n, s.Shard), max(now, 1)
	}
	return !r.most
}

// holdsMost reports whether a slave has at least half of what a shard serves, by weight.
func (m *Membership) holdsMost(n *cluster.Slave, shard balance.ShardID) bool {
	var all, there uint64
	have := n.Table.Delivered(n.Position.Offset)
	for _, h := range m.Model.Table(shard).Slices {
		if h.From == 0 {
			continue
		}
		v := balance.Interval{Lo: h.Lo, Hi: h.Hi}
		all += m.Weight(v)
		for _, part := range balance.Intersect([]balance.Interval{v}, have) {
			there += m.Weight(part)
		}
	}
	return 2*there >= all
}

// takeCopy takes what a slave that joins says about its store, which is a copy.
func (m *Membership) takeCopy(name string, c *balance.Copied) {
	r := m.filling(name)
	s, known := balance.Slave{}, false
	if m.Model != nil {
		s, known = m.Model.Slave(c.Source)
	}
	certified, named := r.sources[c.Source]
	*r = filling{shard: r.shard, differed: r.differed, kept: r.kept}
	if !known || !named || !s.In || s.Shard != r.shard || s.Instance != c.Instance || m.verify.DiscardsAny(c.Source) {
		m.Event(cluster.Event{Name: name,
			Text: "is filled with a copy of " + c.Source + ", which is no longer a replica of its shard: it is compared with the source of truth"})
		return
	}
	r.copied, r.source = certified, c.Source
	m.Event(cluster.Event{Name: name, Text: "is filled with a copy of " + c.Source})
}

// reserved notes that a slave now serves different keys than before. In copies of its store, only keys that it served all
// the time are taken as certified.
func (m *Membership) reserved(source string) {
	for _, f := range m.fillings {
		if v, named := f.sources[source]; named {
			f.sources[source] = balance.Intersect(v, m.Slave(source).Table.Served())
		}
	}
}

// Distrust makes the copies of a slave's store be compared with the source of truth, since the slave differs. It does
// so for copies that are not asked yet; in the others, the scrub finds the errors later.
func (m *Membership) Distrust(slave string) {
	m.filling(slave).differed = true
	for _, name := range slices.Sorted(maps.Keys(m.fillings)) {
		r := m.fillings[name]
		delete(r.sources, slave)
		if r.source == slave {
			r.copied, r.source = nil, ""
			if e := m.entrances[name]; e != nil {
				m.closeEntrance(e)
			}
		}
	}
}

// certified returns the keys that are taken as certified for a slave that is to join a shard.
func (r *filling) certified(shard balance.ShardID) []balance.Interval {
	if r.shard != shard {
		return nil
	}
	return slices.Clone(r.copied)
}
