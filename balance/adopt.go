package balance

import (
	"cmp"
	"slices"

	"adshard/fault"
)

// Adopt makes a model from the tables of slaves. Its view is one above theirs, so that
// each slave receives it. Slaves whose tables name the same shard become its replicas;
// a slave that does not serve the same slices as the first of them is to be filled.
// Errors: fault.Conflict if the slices that the slaves serve in their newest view do
// not tile the ring, or if a slave's data are foreign.
func Adopt(slaves []Joining) (*Model, error) {
	m := &Model{nextSlice: 1, nextShard: 1}
	for _, j := range slaves {
		m.view, m.least = max(m.view, j.Table.View), max(m.least, j.Table.Least)
		m.revision = max(m.revision, j.Table.Revision)
	}
	for _, j := range slaves {
		if err := m.adopt(j); err != nil {
			return nil, err
		}
	}
	m.view++
	slices.SortFunc(m.slaves, func(a, b Slave) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(m.slices, func(a, b Slice) int { return cmp.Compare(a.Lo, b.Lo) })
	if err := m.check(); err != nil || len(m.slices) == 0 {
		return nil, fault.Newf(fault.Conflict, "balance: adopt", "the slaves' slices do not tile the ring: %w", err)
	}
	return m, nil
}

// adopt adds a slave. It also adds the slave's shard, with the slices that the slave
// serves, unless the shard is there already.
func (m *Model) adopt(j Joining) error {
	if j.Foreign {
		return fault.Newf(fault.Conflict, "balance: adopt",
			"slave %s holds data of another database or order of keys", j.Name)
	}
	slave := Slave{Name: j.Name, Site: j.Site}
	shard := cmp.Or(j.Table.Shard, j.Name)
	if j.Table.Spare {
		m.slaves = append(m.slaves, slave)
		return nil
	}
	sh, known := m.Named(shard)
	served := j.serves(sh.ID, m.view)
	if known {
		own := slices.DeleteFunc(slices.Clone(m.slices), func(s Slice) bool { return s.Shard != sh.ID })
		slave.Shard, slave.In = sh.ID, j.Position.Offset == 0 && slices.Equal(served, own)
		m.slaves = append(m.slaves, slave)
		return nil
	}
	if j.Position.Offset != 0 {
		return fault.Newf(fault.Conflict, "balance: adopt", "slave %s is not filled to its end", j.Name)
	}
	slave.Shard, slave.In = m.nextShard, true
	m.slaves = append(m.slaves, slave)
	m.shards = append(m.shards, Shard{ID: m.nextShard, Name: shard})
	for _, s := range j.serves(m.nextShard, m.view) {
		m.slices = append(m.slices, s)
		m.nextSlice = max(m.nextSlice, s.ID+1)
	}
	m.nextShard++
	return nil
}

// serves returns the slices that a slave serves in a view, assigned to a shard.
func (j Joining) serves(shard ShardID, view uint64) (list []Slice) {
	for _, h := range j.Table.Slices {
		if h.From == 0 || h.From > view || h.Until != 0 && h.Until < view {
			continue // it is not served yet, or no longer
		}
		list = append(list, Slice{ID: h.ID, Lo: h.Lo, Hi: h.Hi, Generation: h.Generation, Shard: shard, From: h.From})
	}
	return list
}
