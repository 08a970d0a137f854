package balance

// Parent identifies a record that several items share, and that is on every slave that has one
// of these items. The meaning of kinds is defined outside this package.
type Parent struct {
	Kind uint8
	ID   uint64
}

// Change says that an item or a parent was written or removed. The content is read when the
// change is sent, in its state at that time.
type Change struct {
	// Clock is the Lamport clock of the change (thesis 6.3.8). No two changes have the same
	// clock.
	Clock uint64
	// Key is the key of the item, or 0 for a change of a parent.
	Key     Key
	Removed bool
	// Parent is set for a change of a parent. Items is then the interval of the ring that has
	// the parent's items.
	Parent Parent
	Items  Interval
}

// Joining is a slave that registers.
type Joining struct {
	Name string
	Site
	// Position and Table are the slave's position and table.
	Position Position
	Table    Table
	// Foreign says that the slave's data are of other items or another order of keys, whatever
	// its position and table say.
	Foreign bool
	// Copied is set if the store has become a copy of a sibling's since the slave last joined.
	Copied *Copied
	// Unverified says that the slave's store was opened without having been closed, and that its
	// data have not been compared since then.
	Unverified bool
}

// Copied says from which slave a store was copied. A slave sends it when it first joins with the
// copy.
type Copied struct {
	Source   string // the sibling
	Instance uint64 // the instance of the sibling
}
