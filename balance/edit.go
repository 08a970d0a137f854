package balance

import (
	"slices"

	"adshard/fault"
)

// Edit changes a copy of a model by one operation after another, and records the operations. Most operations cost
// constant time, however many slices there are.
type Edit struct {
	base *Model
	view uint64 // of the resulting model
	// revision is the revision of the resulting model.
	revision uint64
	least    uint64 // of the resulting model
	// filled is the value for the resulting model.
	filled bool
	ops    []Op
	list   []linked
	byID   map[uint64]int32
	shards []Shard
	slaves []Slave
	nextS  uint64
	nextN  ShardID
}

// linked is a slice in a doubly linked list, in ascending order of keys; prev or next is -1 at an end.
type linked struct {
	Slice
	prev, next int32
}

// Edit begins an edit of a copy of the model. The model itself never changes.
func (m *Model) Edit() *Edit {
	e := &Edit{
		base: m, view: m.view, least: m.least, revision: m.revision, filled: m.filled, byID: make(map[uint64]int32, len(m.slices)),
		list: make([]linked, len(m.slices)), shards: append([]Shard(nil), m.shards...), slaves: append([]Slave(nil), m.slaves...),
		nextS: m.nextSlice, nextN: m.nextShard,
	}
	for i, s := range m.slices {
		e.list[i] = linked{Slice: s, prev: int32(i) - 1, next: int32(i) + 1}
		e.byID[s.ID] = int32(i)
	}
	e.list[len(e.list)-1].next = -1
	return e
}

// Slice returns a slice in its state after the operations so far.
func (e *Edit) Slice(id uint64) (Slice, bool) {
	i, ok := e.byID[id]
	if !ok {
		return Slice{}, false
	}
	return e.list[i].Slice, true
}

// Map assigns a slice to a shard. It is only for the first plan: later, slices change shards by moves.
func (e *Edit) Map(slice uint64, shard ShardID) error {
	s, err := e.at(slice)
	if err != nil {
		return err
	}
	if e.base.view != 0 {
		return e.refuse("slice %d is in service: it can only be moved", slice)
	}
	if sh := e.shard(shard); sh == nil || sh.State != Active {
		return e.refuse("slice %d cannot go to shard %d, which is unknown or not active", slice, shard)
	}
	s.Shard = shard
	s.Generation++
	e.ops = append(e.ops, Op{Kind: OpMap, Slice: slice, Shard: shard})
	return nil
}

// Split cuts a slice in two. The slice keeps the keys below `at`; a new slice, whose id is returned, gets the other
// keys. Both stay on their shard.
func (e *Edit) Split(slice uint64, at Key) (uint64, error) {
	i, ok := e.byID[slice]
	if !ok {
		return 0, e.refuse("there is no slice %d", slice)
	}
	left := e.list[i].Slice
	if left.Move.Phase != NoMove {
		return 0, e.locked(left)
	}
	if at <= left.Lo || at > left.Hi {
		return 0, e.refuse("slice %d (%x to %x) cannot be split at %x", slice, left.Lo, left.Hi, at)
	}
	right := left
	right.ID, right.Lo, right.Generation = e.nextS, at, 1
	left.Hi = at - 1
	left.Generation++
	e.nextS++
	j := int32(len(e.list))
	after := e.list[i].next
	e.list = append(e.list, linked{Slice: right, prev: i, next: after})
	e.list[i].Slice, e.list[i].next = left, j
	if after >= 0 {
		e.list[after].prev = j
	}
	e.byID[right.ID] = j
	e.ops = append(e.ops, Op{Kind: OpSplit, Slice: slice, At: at, New: right.ID})
	return right.ID, nil
}

// Merge joins a slice with its right neighbour on the same shard. Both must have been served since the same view,
// unless no query can use the views in which only one was served: no query with an older view may find less of the
// ring served than before.
func (e *Edit) Merge(slice, right uint64) error {
	i, ok := e.byID[slice]
	j, okRight := e.byID[right]
	if !ok || !okRight || e.list[i].next != j {
		return e.refuse("slices %d and %d are not neighbours", slice, right)
	}
	a, b := &e.list[i], e.list[j]
	switch {
	case a.Move.Phase != NoMove:
		return e.locked(a.Slice)
	case b.Move.Phase != NoMove:
		return e.locked(b.Slice)
	case a.Shard != b.Shard:
		return e.refuse("slices %d and %d are on different shards, %d and %d", slice, right, a.Shard, b.Shard)
	case a.From != b.From && max(a.From, b.From) > e.least:
		return e.refuse("slices %d and %d are served from the views %d and %d on, and %d may still be asked for",
			slice, right, a.From, b.From, e.least)
	}
	a.Hi, a.next, a.From = b.Hi, b.next, max(a.From, b.From)
	a.Generation = max(a.Generation, b.Generation) + 1
	if b.next >= 0 {
		e.list[b.next].prev = i
	}
	delete(e.byID, right)
	e.ops = append(e.ops, Op{Kind: OpMerge, Slice: slice, New: right})
	return nil
}

// Filled records that the first fill is complete.
func (e *Edit) Filled() error {
	if e.filled || e.base.view == 0 {
		return e.refuse("the first fill is over already, or there is no plan yet")
	}
	e.filled = true
	e.ops = append(e.ops, Op{Kind: OpFilled})
	return nil
}

// Ops returns the operations so far, in their order.
func (e *Edit) Ops() []Op { return e.ops }

// Model returns the resulting model after checking it. The first plan, made from the model of view 0, gets view 1, in
// which all slices are served.
func (e *Edit) Model() (*Model, error) {
	m := &Model{view: e.view, least: e.least, revision: e.revision, filled: e.filled, nextSlice: e.nextS, nextShard: e.nextN, shards: e.shards, slaves: e.slaves}
	first := e.base.view == 0
	if first {
		m.view = 1
	}
	m.slices = make([]Slice, 0, len(e.byID))
	for i := int32(0); i >= 0; i = e.list[i].next {
		s := e.list[i].Slice
		if first {
			s.From = 1
		}
		m.slices = append(m.slices, s)
	}
	return m, m.check()
}

// Apply returns the model after the given operations, or an error if one of them fails.
func (m *Model) Apply(ops []Op) (*Model, error) {
	e := m.Edit()
	for _, o := range ops {
		if err := e.Apply(o); err != nil {
			return nil, err
		}
	}
	return e.Model()
}

// Apply applies an operation of a quantum. Errors: fault.Invalid if the operation itself fails, or if it would give a
// new slice or shard a different number than it says.
func (e *Edit) Apply(o Op) error {
	switch o.Kind {
	case OpMap:
		return e.Map(o.Slice, o.Shard)
	case OpSplit:
		id, err := e.Split(o.Slice, o.At)
		if err == nil && id != o.New {
			return e.refuse("slice %d would be number %d", o.New, id)
		}
		return err
	case OpMerge:
		return e.Merge(o.Slice, o.New)
	case OpJoin:
		id, err := e.Join(o.Name, o.Site)
		if err == nil && id != o.Shard {
			return e.refuse("shard %d would be number %d", o.Shard, id)
		}
		return err
	case OpStart:
		return e.Start(o.Slice, o.Shard)
	case OpCancel:
		return e.Cancel(o.Slice)
	case OpSwitch:
		return e.Switch(o.Slice)
	case OpFinish:
		return e.Finish(o.Slice)
	case OpState:
		return e.SetState(o.Shard, o.State)
	case OpRemove:
		return e.Remove(o.Shard)
	case OpFilled:
		return e.Filled()
	}
	return e.applySlave(o)
}

// at returns a pointer to a slice, which is valid until the next operation.
func (e *Edit) at(id uint64) (*Slice, error) {
	i, ok := e.byID[id]
	if !ok {
		return nil, e.refuse("there is no slice %d", id)
	}
	return &e.list[i].Slice, nil
}

// shard returns a pointer to a shard, which is valid until the next operation, or nil if there is no such shard.
func (e *Edit) shard(id ShardID) *Shard {
	i, ok := slices.BinarySearchFunc(e.shards, id, func(sh Shard, id ShardID) int { return int(sh.ID) - int(id) })
	if !ok {
		return nil
	}
	return &e.shards[i]
}

func (e *Edit) locked(s Slice) error {
	return e.refuse("slice %d is on its way from or to shard %d", s.ID, s.Move.Other)
}

func (e *Edit) refuse(format string, args ...any) error {
	return fault.Newf(fault.Invalid, "balance: change model", format, args...)
}
