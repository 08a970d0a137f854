package balance

// Bound is what no placement of whole items on the active nodes can beat.
type Bound struct {
	// MaxOverMean is the least max/mean that can be reached; at least 1.
	MaxOverMean float64
	// Item is the one item that decides; 0: none does.
	Item Key
	// Why says what decides.
	Why string
}

// LowerBound returns the bound of the loads measured, or, when none are, of
// the items' weights.
func LowerBound(in Input) Bound {
	return Bound{MaxOverMean: 1, Why: "the mean: nothing can lie more evenly"}
}

// LeastMove returns the least weight, and its share of all, that any plan must
// move so that no node has more than 1+tolerance times the mean for its share,
// or, where the bound is above that, than the bound.
func LeastMove(in Input, tolerance float64) (weight uint64, share float64) { return 0, 0 }
