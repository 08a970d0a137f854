package plan

// Shadow says what a strategy that runs in shadow would do.
type Shadow struct {
	Strategy string
	// MaxOverMean is the ratio that the strategy expects.
	MaxOverMean float64
	Moves       int
	Items       int
	Weight      uint64
	// Share is the share of all weight that would move.
	Share float64
	// Refused says why there is no plan, or why the mapper would refuse the plan.
	Refused string
}
