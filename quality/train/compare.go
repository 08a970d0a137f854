package train

import (
	"math"
	"slices"

	"adshard/scorer"
)

// Comparison is how well a model predicts the clicks of keywords that were held out.
type Comparison struct {
	// Before and After are the log loss per impression, in nats, without and with the model.
	Before, After float64
	// Gain is the difference over all impressions. Deviation is its standard error, taken by keywords.
	Gain, Deviation float64
	// MeanFactor is the mean factor of the clicks on which the model was trained, in permille.
	MeanFactor  float64
	Calibration []Part
}

// Part is a part of the impressions, namely those with similar factors. Each part has a fifth of the clicks
// expected without the model.
type Part struct {
	Factor        float64 // the mean, in permille
	Impressions   float64
	Before, After float64 // clicks expected without and with the model
	Clicks        float64
}

// scored is a held-out example with its factor.
type scored struct {
	*example
	factor uint64
}

// compare compares a model with having none.
func compare(m *scorer.Model, list []example) (c Comparison) {
	var out []scored
	gains := make(map[uint64]float64) // by keyword
	var keywords []uint64
	impressions, trained, factors := 0.0, 0.0, 0.0
	for i := range list {
		e := &list[i]
		f := m.For(&e.request).Factor(&e.features)
		if !e.held {
			trained, factors = trained+e.expected, factors+e.expected*float64(f)
			continue
		}
		out = append(out, scored{e, f})
		before, after := e.loss(e.expected), e.loss(e.expected*float64(f)/1000)
		c.Before, c.After = c.Before+before, c.After+after
		impressions += e.impressions
		if _, seen := gains[e.keyword]; !seen {
			keywords = append(keywords, e.keyword)
		}
		gains[e.keyword] += before - after
	}
	c.Gain, c.MeanFactor = c.Before-c.After, factors/trained
	c.Before, c.After = c.Before/impressions, c.After/impressions
	mean := c.Gain / float64(len(keywords))
	for _, k := range keywords {
		c.Deviation += (gains[k] - mean) * (gains[k] - mean)
	}
	c.Deviation = math.Sqrt(c.Deviation)
	c.Calibration = calibration(out)
	return c
}

// loss returns the log loss of an example's impressions if the given number of clicks is expected.
func (e *example) loss(expected float64) float64 {
	const least = 1e-9 // of a probability, and of its opposite
	n := max(e.impressions, e.clicks)
	if n == 0 {
		return 0
	}
	p := max(least, min(1-least, expected/n))
	return -e.clicks*math.Log(p) - (n-e.clicks)*math.Log1p(-p)
}

// parts is the number of parts of a calibration.
const parts = 5

// calibration divides examples into parts by ascending factors.
func calibration(list []scored) []Part {
	slices.SortStableFunc(list, func(a, b scored) int { return int(a.factor) - int(b.factor) })
	all := 0.0
	for _, s := range list {
		all += s.expected
	}
	var out [parts]Part
	sum := 0.0
	for _, s := range list {
		p := &out[min(parts-1, int(sum/all*parts))]
		sum += s.expected
		p.Impressions += s.impressions
		p.Before += s.expected
		p.After += s.expected * float64(s.factor) / 1000
		p.Clicks += s.clicks
	}
	for i := range out {
		if p := &out[i]; p.Before > 0 {
			p.Factor = 1000 * p.After / p.Before
		}
	}
	return slices.DeleteFunc(out[:], func(p Part) bool { return p.Impressions == 0 })
}
