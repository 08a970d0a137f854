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
	// Expected is how even the items' weights lie afterwards.
	Expected Evenness
}

// Reason says why an operation, or why nothing, is proposed.
type Reason struct {
	// Op is the index of the operation; -1: something was left as it is.
	Op   int
	Text string
}

// Evenness is how even weights lie on the nodes, each divided by its share.
type Evenness struct {
	// Max and Mean are weights; Node is the one with the most.
	Max, Mean float64
	Node      NodeID
}

// Ratio returns max/mean, 1 when there is nothing.
func (e Evenness) Ratio() float64 {
	if e.Mean == 0 {
		return 1
	}
	return e.Max / e.Mean
}

// Measure returns how even the items' weights lie on the nodes of a model.
func Measure(m *Model, items Items, limits map[NodeID]Limit) Evenness {
	sums := make(map[NodeID]uint64, len(m.Nodes()))
	all := m.Slices()
	i := 0
	items.Ascend(0, MaxKey, func(k Key, w uint32) bool {
		for all[i].Hi < k {
			i++
		}
		sums[all[i].Node] += uint64(w)
		return true
	})
	var e Evenness
	var total, shares float64
	for _, n := range m.Nodes() {
		share := float64(max(1, limits[n.ID].Share))
		total += float64(sums[n.ID])
		shares += share
		if load := float64(sums[n.ID]) / share; load > e.Max || e.Node == 0 {
			e.Max, e.Node = load, n.ID
		}
	}
	e.Mean = total / shares
	return e
}
