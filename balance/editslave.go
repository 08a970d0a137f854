package balance

import (
	"fmt"
	"slices"
)

// Enlist adds a slave as a spare. If it holds data, it may have been a replica until a moment ago,
// so it is treated as if it had just left a shard.
func (e *Edit) Enlist(name string, at Site, holds bool) error {
	i, known := slices.BinarySearchFunc(e.slaves, name, byName)
	if known || name == "" {
		return e.refuse("there is a slave %q already, or it has no name", name)
	}
	s, o := Slave{Name: name, Site: at}, Op{Kind: OpEnlist, Name: name, Site: at}
	if holds {
		s.Left, o.New = e.base.revision, 1
	}
	e.slaves = slices.Insert(e.slaves, i, s)
	e.ops = append(e.ops, o)
	return nil
}

// Place changes the site of a slave.
func (e *Edit) Place(name string, at Site) error {
	s, err := e.slave(name)
	if err != nil {
		return err
	}
	if s.Site == at {
		return e.refuse("slave %q is at %s already", name, at.Address)
	}
	s.Site = at
	if s.In {
		e.revise()
	}
	e.ops = append(e.ops, Op{Kind: OpPlace, Name: name, Site: at})
	return nil
}

// Form adds a shard without slaves or slices.
func (e *Edit) Form(name string) (ShardID, error) {
	if slices.ContainsFunc(e.shards, func(sh Shard) bool { return sh.Name == name }) || name == "" {
		return 0, e.refuse("there is a shard %q already, or it has no name", name)
	}
	id := e.nextN
	e.nextN++
	e.shards = append(e.shards, Shard{ID: id, Name: name})
	e.view = e.base.view + 1
	e.ops = append(e.ops, Op{Kind: OpForm, Shard: id, Name: name})
	return id, nil
}

// Assign makes a spare a slave of a shard, to be filled with the shard's slices. Masters do not
// ask it yet.
func (e *Edit) Assign(name string, shard ShardID) error {
	s, err := e.slave(name)
	sh := e.shard(shard)
	switch {
	case err != nil:
		return err
	case sh == nil || sh.State == Drained:
		return e.refuse("slave %q cannot join shard %d, which is unknown or drained", name, shard)
	case s.Shard != 0 || s.Left != 0 || s.Drained:
		return e.refuse("slave %q is not a spare that can join a shard", name)
	}
	s.Shard = shard
	e.ops = append(e.ops, Op{Kind: OpAssign, Name: name, Shard: shard})
	return nil
}

// Enter adds a slave to the set of its shard: masters ask it from the next revision on.
func (e *Edit) Enter(name string) error {
	s, err := e.slave(name)
	switch {
	case err != nil:
		return err
	case s.Shard == 0 || s.In:
		return e.refuse("slave %q has no shard, or is in its set already", name)
	}
	s.In = true
	e.revise()
	e.ops = append(e.ops, Op{Kind: OpEnter, Name: name})
	return nil
}

// Leave removes a slave from the set of its shard. The slave still holds the shard's slices, and
// is filled with those that it lacks.
func (e *Edit) Leave(name string) error {
	s, err := e.slave(name)
	switch {
	case err != nil:
		return err
	case !s.In:
		return e.refuse("slave %q is in no set", name)
	}
	s.In = false
	e.revise()
	e.ops = append(e.ops, Op{Kind: OpLeave, Name: name})
	return nil
}

// Release makes a slave a spare. When the slave learns of this, it stops answering queries for its
// former shard, but it deletes nothing before Free.
func (e *Edit) Release(name string) error {
	s, err := e.slave(name)
	switch {
	case err != nil:
		return err
	case s.Shard == 0:
		return e.refuse("slave %q has no shard", name)
	}
	e.revise()
	s.Shard, s.In, s.Left = 0, false, e.revision
	e.ops = append(e.ops, Op{Kind: OpRelease, Name: name})
	return nil
}

// Free lets a spare delete the data of its former shard, since no master can ask it any more.
func (e *Edit) Free(name string) error {
	s, err := e.slave(name)
	switch {
	case err != nil:
		return err
	case s.Left == 0:
		return e.refuse("slave %q did not leave a shard", name)
	}
	s.Left = 0
	e.ops = append(e.ops, Op{Kind: OpFree, Name: name})
	return nil
}

// Retire sets whether a spare is drained, so that it gets no shard.
func (e *Edit) Retire(name string, drained bool) error {
	s, err := e.slave(name)
	switch {
	case err != nil:
		return err
	case s.Shard != 0 || s.Drained == drained:
		return e.refuse("slave %q has a shard, or nothing changes", name)
	}
	s.Drained = drained
	o := Op{Kind: OpRetire, Name: name}
	if drained {
		o.State = Drained
	}
	e.ops = append(e.ops, o)
	return nil
}

// Forget removes a spare from the model.
func (e *Edit) Forget(name string) error {
	s, err := e.slave(name)
	switch {
	case err != nil:
		return err
	case s.Shard != 0:
		return e.refuse("slave %q still has a shard", name)
	}
	e.slaves = slices.DeleteFunc(e.slaves, func(s Slave) bool { return s.Name == name })
	e.ops = append(e.ops, Op{Kind: OpForget, Name: name})
	return nil
}

// Keeps reports whether a slave is in a set after the edit. It returns true if e is nil, since
// then nothing changes.
func (e *Edit) Keeps(name string) bool {
	if e == nil {
		return true
	}
	s, err := e.slave(name)
	return err == nil && s.In
}

// revise gives the resulting model the next revision.
func (e *Edit) revise() { e.revision = e.base.revision + 1 }

// slave returns a pointer to a slave, which is valid until the next operation.
func (e *Edit) slave(name string) (*Slave, error) {
	i, ok := slices.BinarySearchFunc(e.slaves, name, byName)
	if !ok {
		return nil, e.refuse("there is no slave %q", name)
	}
	return &e.slaves[i], nil
}

// applySlave applies an operation on the list of slaves.
func (e *Edit) applySlave(o Op) error {
	switch o.Kind {
	case OpEnlist:
		return e.Enlist(o.Name, o.Site, o.New != 0)
	case OpPlace:
		return e.Place(o.Name, o.Site)
	case OpForm:
		id, err := e.Form(o.Name)
		if err == nil && id != o.Shard {
			return e.refuse("shard %d would be number %d", o.Shard, id)
		}
		return err
	case OpAssign:
		return e.Assign(o.Name, o.Shard)
	case OpEnter:
		return e.Enter(o.Name)
	case OpLeave:
		return e.Leave(o.Name)
	case OpRelease:
		return e.Release(o.Name)
	case OpFree:
		return e.Free(o.Name)
	case OpRetire:
		return e.Retire(o.Name, o.State == Drained)
	case OpForget:
		return e.Forget(o.Name)
	}
	return e.refuse("unknown operation %d", o.Kind)
}

// describeSlave describes an operation on the list of slaves.
func (o Op) describeSlave() string {
	switch o.Kind {
	case OpEnlist:
		return fmt.Sprintf("slave %s is a spare at %s", o.Name, o.Site.Address)
	case OpPlace:
		return fmt.Sprintf("slave %s is at %s", o.Name, o.Site.Address)
	case OpForm:
		return fmt.Sprintf("shard %d %q begins", o.Shard, o.Name)
	case OpAssign:
		return fmt.Sprintf("slave %s is filled as a replica of shard %d", o.Name, o.Shard)
	case OpEnter:
		return fmt.Sprintf("slave %s joins the set of its shard", o.Name)
	case OpLeave:
		return fmt.Sprintf("slave %s leaves the set of its shard until it has been filled", o.Name)
	case OpRelease:
		return fmt.Sprintf("slave %s leaves its shard", o.Name)
	case OpFree:
		return fmt.Sprintf("slave %s may delete what it held", o.Name)
	case OpRetire:
		if o.State == Drained {
			return fmt.Sprintf("slave %s is drained", o.Name)
		}
		return fmt.Sprintf("slave %s is a spare again", o.Name)
	case OpForget:
		return fmt.Sprintf("slave %s is removed", o.Name)
	}
	return fmt.Sprintf("op(%d)", o.Kind)
}

// ShardName returns the name for the next shard that is formed, of these slaves.
func (e *Edit) ShardName(slaves []string, replicas int) string {
	return shardName(e.nextN, slaves, replicas, func(name string) bool {
		return slices.ContainsFunc(e.shards, func(sh Shard) bool { return sh.Name == name })
	})
}
