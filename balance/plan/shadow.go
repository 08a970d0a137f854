package plan

// Shadow is what a strategy that is not in use would do.
type Shadow struct {
	Strategy string
	// MaxOverMean is predicted.
	MaxOverMean float64
	Moves       int
	Items       int
	Weight      uint64
	// Share of all weight that would move.
	Share float64
	// Refused says why there is no plan, or why the mapper would refuse it.
	Refused string
}
