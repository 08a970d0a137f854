package balance

// Parent names a record that items share and that lies on every slave that
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

// Joining is a slave that announces itself.
type Joining struct {
	Name string
	Site
	// Position and Table are what the slave has.
	Position Position
	Table    Table
	// Foreign: what the slave holds belongs to other items or to another order
	// of keys, whatever position and table say.
	Foreign bool
	// Copied is set when the store has become a copy of a sibling's since the slave
	// joined before.
	Copied *Copied
	// Unverified: the slave's store was opened without having been closed, and its data have not
	// been compared since.
	Unverified bool
}

// Copied says that a slave's store is a copy, as it joins for the first time with it.
type Copied struct {
	Source   string // the sibling
	Instance uint64 // the sibling's
}
