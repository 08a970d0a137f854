package train

import (
	"math"
	"slices"

	"adshard/scorer"
)

// Comparison is how well a model tells the clicks of keywords that were held out.
type Comparison struct {
	// Before and After are the log loss of an impression, in nats: without the model, and with it.
	Before, After float64
	// Gain is their difference over all impressions, Deviation its standard error by keywords.
	Gain, Deviation float64
	// MeanFactor is that of the clicks that the model was trained on, in permille.
	MeanFactor  float64
	Calibration []Part
}

// Part is a part of the impressions, those of similar factors: of clicks, a fifth is expected without the model.
type Part struct {
	Factor        float64 // the mean, in permille
	Impressions   float64
	Before, After float64 // clicks that are expected, without the model and with it
	Clicks        float64
}

// scored is an example that was held out, with its factor.
type scored struct {
	*example
	factor uint64
}

// compare compares a model with none.
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

// loss is the log loss of an example's impressions when so many clicks are expected of them.
func (e *example) loss(expected float64) float64 {
	const least = 1e-9 // of a probability, and of its opposite
	n := max(e.impressions, e.clicks)
	if n == 0 {
		return 0
	}
	p := max(least, min(1-least, expected/n))
	return -e.clicks*math.Log(p) - (n-e.clicks)*math.Log1p(-p)
}

// parts is how many parts of a calibration there are.
const parts = 5

// calibration parts examples by ascending factors.
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
