package replicas

import (
	"maps"
	"slices"
	"time"

	"adshard/balance"
	"adshard/balance/cluster"
)

// A slave that holds less than half of what its shard serves is filled with a copy of a
// sibling's store, as long as one lives; the remaining ones are filled by node data. Which
// siblings it may copy follows from the model and from what slaves report, so nothing of
// it is durable: a new mapper names them again.
//
// Of a copy that is complete, what the sibling served all the while counts as certified:
// the bytes are the sibling's, and both apply one log.

// filling is how a slave is being filled, and what is known of it before it is compared.
type filling struct {
	shard balance.ShardID
	// sources are the siblings that it may copy, each with what it has served since it
	// was named first.
	sources map[string][]balance.Interval
	// copied is what counts as certified of the copy that it has; source is whose.
	copied []balance.Interval
	source string
	// differed: it is to discard something, since it differed from the source of truth, and
	// does not have everything again yet. Its siblings may have the same damage.
	differed bool
	// most is whether it holds most of what its shard serves, as of looked.
	most   bool
	looked time.Duration
	kept   kept
}

// filling returns what is known of how a slave is being filled.
func (m *Membership) filling(name string) *filling {
	f := m.fillings[name]
	if f == nil {
		f = &filling{}
		m.fillings[name] = f
	}
	return f
}

// Forget drops what is known of a slave that is not in the model any more.
func (m *Membership) Forget(slave string) { delete(m.fillings, slave) }

// Joined takes what a slave that has joined says of its store; nil: it is no copy.
func (m *Membership) Joined(name string, c *balance.Copied) {
	m.filling(name).looked = 0
	if c != nil {
		m.takeCopy(name, c)
	}
}

// HoldsOther goes on with what a slave holds now.
func (m *Membership) HoldsOther(name string) {
	m.reserved(name)
	m.retain(name)
}

// shareGap is the time between two looks at how much a slave holds.
const shareGap = 5 * time.Second

// CopyFrom returns the shard of a slave that is to be filled with a copy, and the replicas that may be copied, the best
// first; none: it is not to be filled so.
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
	// Each begins with the next one by name, so that not all copy the first.
	after := slices.IndexFunc(siblings, func(o balance.Slave) bool { return o.Name > name })
	if after > 0 {
		siblings = slices.Concat(siblings[after:], siblings[:after])
	}
	return m.Name(s.Shard), siblings
}

// hollow reports whether a slave lacks most of what its shard serves, so that it is not
// to be asked: its directory was emptied, or it has just got the shard.
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

// holdsMost reports whether a slave has half of what a shard serves, by weight.
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

// takeCopy takes what a slave that joins says of its store, a copy.
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
			Text: "is filled with a copy of " + c.Source + ", which is no replica of its shard any more: it is compared with the source of truth"})
		return
	}
	r.copied, r.source = certified, c.Source
	m.Event(cluster.Event{Name: name, Text: "is filled with a copy of " + c.Source})
}

// reserved notes that a slave serves other keys than before: copies of its store count as
// certified only as far as it served all the while.
func (m *Membership) reserved(source string) {
	for _, f := range m.fillings {
		if v, named := f.sources[source]; named {
			f.sources[source] = balance.Intersect(v, m.Slave(source).Table.Served())
		}
	}
}

// Distrust has the copies of a slave's store compared with the source of truth, as far as
// they are not asked yet: the slave differs. Later the scrub finds what is wrong.
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

// certified returns what counts as certified of a slave that is to join a shard.
func (r *filling) certified(shard balance.ShardID) []balance.Interval {
	if r.shard != shard {
		return nil
	}
	return slices.Clone(r.copied)
}
