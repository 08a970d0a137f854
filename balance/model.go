package balance

import (
	"cmp"
	"slices"
	"sort"

	"adshard/fault"
)

// Model maps slices to shards (thesis 6.3.2). Its slices tile the ring. It is immutable
// and may be shared; an Edit makes the next model.
type Model struct {
	view      uint64
	revision  uint64 // numbers the changes of slaves that masters learn of
	least     uint64 // views before it are not served
	filled    bool   // the first fill is complete
	nextSlice uint64
	nextShard ShardID
	shards    []Shard // in ascending order of ids
	slaves    []Slave // in ascending order of names
	byShard   map[ShardID][]Slave
	slices    []Slice // in ascending order of keys; they tile the ring
}

// NewModel returns the model before the first plan. It has view 0 and one slice, the
// whole ring, on the first shard. Shards get their ids in the order given. Each has one
// slave, with the shard's name.
func NewModel(shards []Shard) (*Model, error) {
	m := &Model{nextSlice: 2, nextShard: 1}
	for _, sh := range shards {
		sh.ID = m.nextShard
		m.nextShard++
		m.shards = append(m.shards, sh)
		m.slaves = append(m.slaves, Slave{Name: sh.Name, Shard: sh.ID, In: true})
	}
	slices.SortFunc(m.slaves, func(a, b Slave) int { return cmp.Compare(a.Name, b.Name) })
	m.slices = []Slice{{ID: 1, Hi: MaxKey, Generation: 1, Shard: 1}}
	return m, m.check()
}

// View returns the number of this state of the slice map. It grows when a slice changes
// its shard, or a shard joins or is removed.
func (m *Model) View() uint64 { return m.view }

// Revision returns the number of this state of the sets of replicas. It grows when a
// slave joins or leaves a set, or its address changes.
func (m *Model) Revision() uint64 { return m.revision }

// Least returns the oldest view that queries may still use.
func (m *Model) Least() uint64 { return m.least }

// Filled reports whether the first fill is complete: whether each slice has been
// complete, at some time, on the shard that serves it.
func (m *Model) Filled() bool { return m.filled }

// Shards returns the shards in ascending order of ids. The result must not be modified.
func (m *Model) Shards() []Shard { return m.shards }

// Slices returns the slices in ascending order of keys. The result must not be
// modified.
func (m *Model) Slices() []Slice { return m.slices }

// At returns the slice that has the key k.
func (m *Model) At(k Key) Slice {
	i := sort.Search(len(m.slices), func(i int) bool { return m.slices[i].Hi >= k })
	return m.slices[i]
}

// Shard returns the shard with this id.
func (m *Model) Shard(id ShardID) (Shard, bool) {
	i, ok := slices.BinarySearchFunc(m.shards, id, func(sh Shard, id ShardID) int { return int(sh.ID) - int(id) })
	if !ok {
		return Shard{}, false
	}
	return m.shards[i], true
}

// Named returns the shard with this name.
func (m *Model) Named(name string) (Shard, bool) {
	i := slices.IndexFunc(m.shards, func(sh Shard) bool { return sh.Name == name })
	if i < 0 {
		return Shard{}, false
	}
	return m.shards[i], true
}

// Header returns the table of a slave that holds no slices.
func (m *Model) Header() Table {
	return Table{View: m.view, Least: m.least, Revision: m.revision, Filled: m.filled}
}

// Table returns the slices that a shard is to hold and serve: its own; those being
// copied to it, which it does not serve yet; and those that it served before a switch,
// in the views up to the switch.
func (m *Model) Table(shard ShardID) Table {
	t := m.Header()
	for _, s := range m.slices {
		if s.Shard == shard || s.Move.Phase != NoMove && s.Move.Other == shard {
			t.Slices = append(t.Slices, s.held(shard))
		}
	}
	return t
}

// Tables returns the table of each shard.
func (m *Model) Tables() map[ShardID]Table {
	out := make(map[ShardID]Table, len(m.shards))
	for _, sh := range m.shards {
		out[sh.ID] = m.Header()
	}
	add := func(s Slice, shard ShardID) {
		t := out[shard]
		t.Slices = append(t.Slices, s.held(shard))
		out[shard] = t
	}
	for _, s := range m.slices {
		add(s, s.Shard)
		if s.Move.Phase != NoMove {
			add(s, s.Move.Other)
		}
	}
	return out
}

// held returns the slice as an entry of the table of one of its shards.
func (s Slice) held(shard ShardID) Held {
	h := Held{ID: s.ID, Lo: s.Lo, Hi: s.Hi, Generation: s.Generation}
	switch {
	case s.Shard == shard:
		h.From = s.From
	case s.Move.Phase == Switched:
		h.From, h.Until = s.Move.OtherFrom, s.From-1
	}
	return h
}

// check returns an error if a model is invalid. Slices must tile the ring and be on
// known shards. Their ids must be distinct and below the next id. They must be served
// from a view that exists, and move only between different shards.
func (m *Model) check() error {
	const op = "balance: check model"
	if len(m.shards) == 0 {
		return fault.Newf(fault.Invalid, op, "there is no shard")
	}
	names := make(map[string]bool, len(m.shards))
	for i, sh := range m.shards {
		if sh.ID == 0 || sh.ID >= m.nextShard || i > 0 && sh.ID <= m.shards[i-1].ID || names[sh.Name] || sh.State > Dissolving {
			return fault.Newf(fault.Invalid, op, "shard %d %q is listed twice, out of order or in an unknown state", sh.ID, sh.Name)
		}
		names[sh.Name] = true
	}
	if err := m.checkSlaves(); err != nil {
		return err
	}
	if m.least > m.view {
		return fault.Newf(fault.Invalid, op, "the oldest view, %d, is newer than the newest, %d", m.least, m.view)
	}
	ids := make(map[uint64]struct{}, len(m.slices))
	next := Key(0)
	for i, s := range m.slices {
		if s.Lo != next || s.Hi < s.Lo || i > 0 && next == 0 {
			return fault.Newf(fault.Invalid, op, "slice %d (%x to %x) leaves a gap or overlaps at %x", s.ID, s.Lo, s.Hi, next)
		}
		if err := m.checkSlice(s); err != nil {
			return err
		}
		ids[s.ID] = struct{}{}
		next = s.Hi + 1
	}
	if next != 0 || len(m.slices) == 0 {
		return fault.Newf(fault.Invalid, op, "the ring is not covered from %x on", next)
	}
	if len(ids) != len(m.slices) {
		return fault.Newf(fault.Invalid, op, "%d slices have %d different numbers", len(m.slices), len(ids))
	}
	return nil
}

// checkSlaves groups the slaves by shard, and returns an error if the list of slaves is
// invalid.
func (m *Model) checkSlaves() error {
	m.byShard = make(map[ShardID][]Slave, len(m.shards))
	for i, s := range m.slaves {
		_, known := m.Shard(s.Shard)
		if s.Name == "" || i > 0 && s.Name <= m.slaves[i-1].Name || s.Left > m.revision ||
			s.Shard != 0 && (!known || s.Left != 0 || s.Drained) || s.Shard == 0 && s.In {
			return fault.Newf(fault.Invalid, "balance: check model",
				"slave %q is listed twice, out of order, of an unknown shard, or both a replica and a spare", s.Name)
		}
		if s.Shard != 0 {
			m.byShard[s.Shard] = append(m.byShard[s.Shard], s)
		}
	}
	return nil
}

// checkSlice returns an error if a slice is invalid.
func (m *Model) checkSlice(s Slice) error {
	const op = "balance: check model"
	if s.ID == 0 || s.ID >= m.nextSlice || s.From > m.view {
		return fault.Newf(fault.Invalid, op, "slice %d has the number 0 or one not given yet, or comes from a later view", s.ID)
	}
	if sh, ok := m.Shard(s.Shard); !ok || sh.State == Drained {
		return fault.Newf(fault.Invalid, op, "slice %d is on shard %d, which is unknown or drained", s.ID, s.Shard)
	}
	v := s.Move
	switch v.Phase {
	case NoMove:
		if v != (Move{}) {
			return fault.Newf(fault.Invalid, op, "slice %d is not moving but names shard %d as its target", s.ID, v.Other)
		}
		return nil
	case Copying:
		if v.OtherFrom != 0 {
			return fault.Newf(fault.Invalid, op, "slice %d is served in view %d by a shard that is not filled", s.ID, v.OtherFrom)
		}
	case Switched:
		if v.OtherFrom >= s.From {
			return fault.Newf(fault.Invalid, op, "slice %d was switched in view %d, before view %d", s.ID, s.From, v.OtherFrom)
		}
	default:
		return fault.Newf(fault.Invalid, op, "slice %d is in the unknown phase %d of a move", s.ID, v.Phase)
	}
	if sh, ok := m.Shard(v.Other); !ok || v.Other == s.Shard || sh.State == Drained {
		return fault.Newf(fault.Invalid, op, "slice %d moves between the shards %d and %d, which is impossible", s.ID, s.Shard, v.Other)
	}
	return nil
}
