package feed

// Weights are the weights of an item's parts (thesis 2.4).
type Weights struct {
	Keyword uint32 `yaml:"keyword"`
	Ad      uint32 `yaml:"ad"`
	Lexicon uint32 `yaml:"lexicon"`
}

// DefaultWeights weighs keywords, ads and lexicon entries equally.
func DefaultWeights() Weights { return Weights{Keyword: 1, Ad: 1, Lexicon: 1} }

// Of returns an item's weight, at least 1.
func (w Weights) Of(keywords, ads, lexicon uint32) uint32 {
	sum := uint64(w.Keyword)*uint64(keywords) + uint64(w.Ad)*uint64(ads) + uint64(w.Lexicon)*uint64(lexicon)
	return uint32(max(1, min(sum, 1<<32-1)))
}
