package quality

import (
	"errors"
	"math"

	"adshard/fault"
)

// Options of Learn. The zero value forgets nothing, estimates everything and adds no
// bound.
type Options struct {
	// HalfLife is the number of days after which a count weighs half, or 0 if it never
	// weighs less.
	HalfLife float64
	// Examination is how often users look at positions 1, 2, …, as a part of how often
	// they look at the first; positions beyond are as the last one. Empty: estimated.
	Examination []float64
	// Strength is how many clicks of its own something needs to weigh as much as its parent; 0
	// means estimated for each level.
	Strength float64
	// Prior is the click rate at the top before anything is known; 0 means
	// DefaultPrior.
	Prior float64
	// Factor returns, above 0 and at most 1, the part of the click rate that remains for a known
	// reason other than the ad, such as the factor of the keyword's match type (serving.md §4).
	// Rates are learned as if it were one, so that keywords of different types can be compared.
	// Nil: it is one.
	Factor func(Key) float64
	// Optimism is how many standard deviations Estimate.Bound is above the mean.
	Optimism float64
	// Explore is the number of impressions at the top that something needs until Estimate.Bound may
	// fall below the overall rate. So what was hardly shown is not ranked low because of its
	// parents: it is shown and becomes known.
	Explore float64
}

// DefaultPrior is the click rate before anything is known.
const DefaultPrior = 0.02

// DefaultExplore is the usual Explore: enough for some clicks at usual rates.
const DefaultExplore = 200

// minPrior is the least one: it is divided by.
const minPrior = 1e-6

// Validate returns all that is wrong with the options, as fault.Invalid.
func (o *Options) Validate() error {
	var list []error
	wrong := func(field, format string, args ...any) {
		list = append(list, fault.Field("quality: options", field, field+" "+format, args...))
	}
	// Written so that NaN is wrong, too.
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
