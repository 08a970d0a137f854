package balance

import "fmt"

// OpKind is the kind of an operation: one on slices (thesis 6.3.10), or one on the lists of
// shards and slaves.
type OpKind uint8

// The operations.
const (
	OpMap    OpKind = iota + 1 // Slice is served by Shard: only in the first plan
	OpSplit                    // Slice ends before At; New begins there
	OpMerge                    // Slice takes in its right neighbour New
	OpJoin                     // Shard joins, with its only slave, both called Name, at Site
	OpStart                    // Slice begins to be copied to Shard
	OpCancel                   // Slice stays where it is; its move is cancelled
	OpSwitch                   // Slice is served by its target from the next view on
	OpFinish                   // Slice leaves the shard that served it before
	OpState                    // Shard becomes State
	OpRemove                   // Shard, called Name, which has no slices, is removed
	OpFilled                   // the first fill is complete

	OpEnlist  // the slave Name is a spare at Site; if New is 1, it holds data
	OpPlace   // the slave Name is at Site
	OpForm    // Shard is formed, called Name, without slaves
	OpAssign  // the slave Name is to hold the slices of Shard
	OpEnter   // masters may ask the slave Name
	OpLeave   // masters must not ask the slave Name
	OpRelease // the slave Name becomes a spare
	OpFree    // the slave Name may delete the data of its former shard
	OpRetire  // the spare Name is drained, or no longer if State is Active
	OpForget  // the spare Name is removed
)

// Op is an operation. Fields that its kind does not use are zero.
type Op struct {
	Kind  OpKind
	Slice uint64
	Shard ShardID
	At    Key
	New   uint64
	Name  string
	Site  Site
	State ShardState
}

// String describes the operation.
func (o Op) String() string {
	switch o.Kind {
	case OpMap:
		return fmt.Sprintf("map slice %d to shard %d", o.Slice, o.Shard)
	case OpSplit:
		return fmt.Sprintf("split slice %d at %x, slice %d begins there", o.Slice, uint64(o.At), o.New)
	case OpMerge:
		return fmt.Sprintf("merge slice %d into slice %d", o.New, o.Slice)
	case OpJoin:
		return fmt.Sprintf("shard %d %q joins", o.Shard, o.Name)
	case OpStart:
		return fmt.Sprintf("start to move slice %d to shard %d", o.Slice, o.Shard)
	case OpCancel:
		return fmt.Sprintf("cancel the move of slice %d", o.Slice)
	case OpSwitch:
		return fmt.Sprintf("switch slice %d to the shard it moves to", o.Slice)
	case OpFinish:
		return fmt.Sprintf("finish the move of slice %d", o.Slice)
	case OpState:
		return fmt.Sprintf("shard %d is %s", o.Shard, o.State)
	case OpRemove:
		return fmt.Sprintf("shard %d %q is removed", o.Shard, o.Name)
	case OpFilled:
		return "the first fill is over"
	}
	return o.describeSlave()
}

// Quantum is all changes of the model in one iteration of a strategy. It is applied as a whole
// or not at all (thesis 6.3.7). It may have no changes: then it only allows changes of data up
// to its clock.
type Quantum struct {
	Epoch, Number uint64
	// Clock is the clock of the last change of data that the mapper had seen.
	Clock uint64
	// View is the view of the model after the quantum.
	View uint64
	Ops  []Op
	// Model, if it is set, replaces the receiver's model. Such a quantum is called
	// reinitialising (thesis 6.3.8).
	Model *Model
}

// Empty reports whether the quantum leaves the model unchanged.
func (q Quantum) Empty() bool { return q.Model == nil && len(q.Ops) == 0 }
