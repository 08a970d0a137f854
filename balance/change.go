package balance

// Parent names a record that items share and that lies on every node that
// holds one of them; what a kind means is defined outside of this package.
type Parent struct {
	Kind uint8
	ID   uint64
}

// Change records that an item or a parent was written or removed; its current
// content is read when it is sent.
type Change struct {
	// Clock is the Lamport clock of the change (thesis 6.3.8); each change has
	// one of its own.
	Clock uint64
	// Key is the item's; 0 for a change of a parent.
	Key     Key
	Removed bool
	// Parent is set for a change of a parent, and Items is where on the ring
	// its items lie.
	Parent Parent
	Items  Interval
}

// Quantum is all changes of the model in one iteration of a strategy, applied
// whole or not at all (thesis 6.3.7), or none: then it only allows data changes up to its clock.
type Quantum struct {
	Epoch, Number uint64
	// Clock is that of the last data change that the mapper had seen.
	Clock uint64
	// View is the model's after the quantum.
	View uint64
	Ops  []Op
	// Model, when set, takes the place of the receiver's model: a
	// reinitialising quantum (thesis 6.3.8).
	Model *Model
}

// Empty reports whether the quantum leaves the model unchanged.
func (q Quantum) Empty() bool { return q.Model == nil && len(q.Ops) == 0 }

// Joining is a node that announces itself.
type Joining struct {
	Name, Address string
	// Position and Table are what the node has.
	Position Position
	Table    Table
	// Foreign: what the node holds belongs to other items or to another order
	// of keys, whatever position and table say.
	Foreign bool
}
