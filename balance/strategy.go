package balance

// Strategy is a balancing algorithm (thesis 6.3.10). It is asked by the mapper
// and cannot break the model: the core checks what it proposes.
type Strategy interface {
	// Name is the strategy's name in configurations and reports.
	Name() string
	// Initial plans all items known at the start. Input.Model is that of view
	// 0: the whole ring on the first node.
	Initial(in Input) (Proposal, error)
	// Iterate is called again and again while the system runs.
	Iterate(in Input) (Proposal, error)
}

// Input is what a strategy sees.
type Input struct {
	Model *Model
	Items Items
	Order Order
	// Limits say what a node can take; a node without one weighs 1 and has no
	// limit.
	Limits map[NodeID]Limit
	// Loads is the measured load; nil in the first plan.
	Loads Loads
	// Few says why the measured load is not to be gone by: too few queries are
	// behind it, so that it is mostly chance. A strategy that goes by load leaves
	// everything as it is then. "": it can be gone by, or none was ever measured.
	Few string
	// NoQueries: there was load once, and queries have stopped; all of Loads is
	// zero.
	NoQueries bool
	// Budget is the most that the proposal may move.
	Budget Budget
	// May tells whether a slice may begin to move to a node, and if not, why:
	// it is on its way, the node is draining, lost or full, or it came from
	// there a moment ago. The core refuses proposals with moves that may not
	// be; nil: all may.
	May func(slice uint64, to NodeID) (ok bool, why string)
	// Iteration counts the iterations, for seeds.
	Iteration uint64
}

// Loads is the load as measured, in weighted cost a second.
type Loads interface {
	// Slice returns a slice's load; after a split or switch, until it is
	// measured anew, what can be expected.
	Slice(id uint64) float64
	// Hot visits the items of known load with keys lo to hi, both inclusive, by
	// rising key, until visit returns false. The rest of a slice's load is
	// spread over its other items by weight.
	Hot(lo, hi Key, visit func(k Key, load float64) bool)
	// Measured tells whether there is any load to go by.
	Measured() bool
}

// Budget is the most that one proposal may move: a share of all items' number
// and weight, 0 to 1; 0: no limit.
type Budget struct{ Share float64 }

// Limit is what a node can take.
type Limit struct {
	// Share is the node's strength against that of the others; 0 is 1.
	Share uint32
	// Weight is the most that the items of a node may weigh together; 0: no
	// limit.
	Weight uint64
}

// Proposal is what a strategy wants done.
type Proposal struct {
	Ops     []Op
	Reasons []Reason
	// Expected is how even the load lies afterwards; in the first plan, and
	// when none is measured, the items' weights.
	Expected Evenness
}

// Reason says why an operation, or why nothing, is proposed.
type Reason struct {
	// Op is the index of the operation; -1: something was left as it is.
	Op int
	// Slice is what was left as it is; 0: no single slice.
	Slice uint64
	Text  string
}
