package balance

import "slices"

// Start begins to move a slice to another shard. That shard is filled while the slice
// is still served by its own.
func (e *Edit) Start(slice uint64, shard ShardID) error {
	s, err := e.at(slice)
	if err != nil {
		return err
	}
	sh := e.shard(shard)
	switch {
	case e.base.view == 0:
		return e.refuse("slice %d is not in service yet: the first plan maps it", slice)
	case s.Move.Phase != NoMove:
		return e.locked(*s)
	case sh == nil:
		return e.refuse("slice %d cannot go to the unknown shard %d", slice, shard)
	case sh.State != Active:
		return e.refuse("slice %d cannot go to shard %d %q, which is %s", slice, shard, sh.Name, sh.State)
	case s.Shard == shard:
		return e.refuse("slice %d is on shard %d already", slice, shard)
	}
	s.Move = Move{Phase: Copying, Other: shard}
	s.Generation++
	e.ops = append(e.ops, Op{Kind: OpStart, Slice: slice, Shard: shard})
	return nil
}

// Cancel ends a move before its switch. The slice stays on its shard.
func (e *Edit) Cancel(slice uint64) error {
	s, err := e.moving(slice, Copying)
	if err != nil {
		return err
	}
	s.Move = Move{}
	s.Generation++
	e.ops = append(e.ops, Op{Kind: OpCancel, Slice: slice})
	return nil
}

// Switch makes the target of a move serve the slice from the next view on. All switches
// of one edit take effect in the same view.
func (e *Edit) Switch(slice uint64) error {
	s, err := e.moving(slice, Copying)
	if err != nil {
		return err
	}
	if s.From > e.base.view {
		return e.refuse("slice %d already changes its shard in the next view", slice)
	}
	e.view = e.base.view + 1
	s.Shard, s.Move = s.Move.Other, Move{Phase: Switched, Other: s.Shard, OtherFrom: s.From}
	s.From = e.view
	s.Generation++
	e.ops = append(e.ops, Op{Kind: OpSwitch, Slice: slice})
	return nil
}

// Finish ends a move after its switch. The slice leaves the shard that served it
// before, and no shard serves views before the switch any more.
func (e *Edit) Finish(slice uint64) error {
	s, err := e.moving(slice, Switched)
	if err != nil {
		return err
	}
	s.Move = Move{}
	e.least = max(e.least, s.From)
	e.ops = append(e.ops, Op{Kind: OpFinish, Slice: slice})
	return nil
}

// moving returns a slice, and an error unless its move is in the given phase.
func (e *Edit) moving(slice uint64, phase MovePhase) (*Slice, error) {
	s, err := e.at(slice)
	if err == nil && s.Move.Phase != phase {
		err = e.refuse("slice %d is not %s", slice, phase)
	}
	return s, err
}

// Join adds a shard without slices, together with its only slave, which has the same
// name.
func (e *Edit) Join(name string, at Site) (ShardID, error) {
	if slices.ContainsFunc(e.shards, func(sh Shard) bool { return sh.Name == name }) {
		return 0, e.refuse("there is a shard %q already", name)
	}
	i, known := slices.BinarySearchFunc(e.slaves, name, byName)
	if known {
		return 0, e.refuse("there is a slave %q already", name)
	}
	id := e.nextN
	e.nextN++
	e.shards = append(e.shards, Shard{ID: id, Name: name})
	e.slaves = slices.Insert(e.slaves, i, Slave{Name: name, Site: at, Shard: id, In: true})
	e.view = e.base.view + 1
	e.ops = append(e.ops, Op{Kind: OpJoin, Shard: id, Name: name, Site: at})
	return id, nil
}

// SetState sets a shard's state. A shard can become Drained only when no slice is left
// on it.
func (e *Edit) SetState(shard ShardID, state ShardState) error {
	sh := e.shard(shard)
	switch {
	case sh == nil:
		return e.refuse("there is no shard %d", shard)
	case state > Dissolving:
		return e.refuse("shard %d cannot have the state %d", shard, state)
	case sh.State == state:
		return e.refuse("shard %d %q is %s already", shard, sh.Name, state)
	}
	if state == Drained && e.uses(shard) {
		return e.refuse("shard %d %q still has slices", shard, sh.Name)
	}
	sh.State = state
	e.ops = append(e.ops, Op{Kind: OpState, Shard: shard, State: state})
	return nil
}

// Remove removes a shard that has no slices, and its slaves, from the model. The
// shard's number is never reused. Masters learn of the removal by a new view.
func (e *Edit) Remove(shard ShardID) error {
	sh := e.shard(shard)
	switch {
	case e.base.view == 0:
		return e.refuse("shard %d cannot be removed before the first plan", shard)
	case sh == nil:
		return e.refuse("there is no shard %d", shard)
	case e.uses(shard):
		return e.refuse("shard %d %q still has slices", shard, sh.Name)
	case len(e.shards) == 1:
		return e.refuse("shard %d %q is the only one", shard, sh.Name)
	}
	name := sh.Name
	e.shards = slices.DeleteFunc(e.shards, func(o Shard) bool { return o.ID == shard })
	e.slaves = slices.DeleteFunc(e.slaves, func(s Slave) bool { return s.Shard == shard })
	e.view = e.base.view + 1
	e.ops = append(e.ops, Op{Kind: OpRemove, Shard: shard, Name: name})
	return nil
}

// uses reports whether any slice is on a shard, or is moving from or to it.
func (e *Edit) uses(shard ShardID) bool {
	for _, i := range e.byID {
		if s := e.list[i].Slice; s.Shard == shard || s.Move.Other == shard {
			return true
		}
	}
	return false
}
