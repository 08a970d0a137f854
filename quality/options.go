package quality

import (
	"errors"
	"math"

	"adshard/fault"
)

// Options are the options of Learn. With the zero value it forgets nothing, estimates everything
// and adds no bound.
type Options struct {
	// HalfLife is the number of days after which a count weighs half, or 0 if counts keep their
	// weight.
	HalfLife float64
	// Examination is how often users look at positions 1, 2, …, relative to how often they look at
	// the first. Positions beyond are like the last one. If it is empty, it is estimated.
	Examination []float64
	// Strength is the number of its own clicks that something needs to weigh as much as its parent.
	// 0 means that it is estimated for each level.
	Strength float64
	// Prior is the click rate at the top before anything is known. 0 means DefaultPrior.
	Prior float64
	// Factor returns the part of the click rate, above 0 and at most 1, that remains for a known
	// reason other than the ad, such as the factor of the keyword's match type (serving.md §4).
	// Rates are learned as if the factor were one, so that keywords of different types can be
	// compared. A nil Factor means one.
	Factor func(Key) float64
	// Optimism is the number of standard deviations by which Estimate.Bound lies above the mean.
	Optimism float64
	// Explore is the number of impressions at the top that something needs before Estimate.Bound
	// may fall below the overall rate. Something that was hardly shown is then not ranked low
	// because of its parents: it is shown and becomes known.
	Explore float64
}

// DefaultPrior is the click rate before anything is known.
const DefaultPrior = 0.02

// DefaultExplore is the usual Explore, which is enough for some clicks at usual rates.
const DefaultExplore = 200

// minPrior is the smallest prior, since the prior is a divisor.
const minPrior = 1e-6

// Validate returns everything that is wrong with the options, as fault.Invalid.
func (o *Options) Validate() error {
	var list []error
	wrong := func(field, format string, args ...any) {
		list = append(list, fault.Field("quality: options", field, field+" "+format, args...))
	}
	// Written such that NaN is also wrong.
	if !(o.HalfLife >= 0) || math.IsInf(o.HalfLife, 1) {
		wrong("half-life", "%v days: 0 or more", o.HalfLife)
	}
	if o.Strength != 0 && !(o.Strength >= minStrength && o.Strength <= maxStrength) {
		wrong("strength", "%v clicks: %d to %d, or 0 to estimate it", o.Strength, minStrength, maxStrength)
	}
	if o.Prior != 0 && !(o.Prior >= minPrior && o.Prior <= 1) {
		wrong("prior", "%v: %v to 1, or 0 for %v", o.Prior, minPrior, DefaultPrior)
	}
	if !(o.Optimism >= 0 && o.Optimism <= 10) {
		wrong("optimism", "%v standard deviations: 0 to 10", o.Optimism)
	}
	if !(o.Explore >= 0) || math.IsInf(o.Explore, 1) {
		wrong("explore", "%v impressions: 0 or more", o.Explore)
	}
	if len(o.Examination) > MaxPosition {
		wrong("examination", "%d positions: at most %d", len(o.Examination), MaxPosition)
	}
	for i, e := range o.Examination {
		if !(e > 0 && e <= 1) {
			wrong("examination", "position %d: %v: above 0, to 1", i+1, e)
		}
	}
	return errors.Join(list...)
}
