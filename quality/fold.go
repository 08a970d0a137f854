package quality

import "math"

// shown has the decayed counts of an ad in a position.
type shown struct {
	Key
	position            uint8
	impressions, clicks float64
	// examined is the number of impressions at the top, at a factor of one, that would get as many
	// clicks.
	examined float64
	// noise is the estimated variance of clicks for a given rate. The variance of a Poisson
	// distribution is its mean, but the weight enters squared.
	noise float64
}

// fold decays and sums the days of each place, in ascending order. Days in the future weigh as much
// as today, since the clocks of collectors differ.
func (c *Counts) fold(today int32, halfLife float64) []shown {
	list := make([]shown, 0, len(c.places))
	for _, p := range c.sorted() {
		s := shown{Key: p.Key, position: p.position}
		for _, d := range c.places[p] {
			w := weight(int64(today)-int64(d.day), halfLife)
			// The conversions keep the compiler from fusing operations, which would round
			// differently.
			s.impressions += float64(w * float64(d.Impressions))
			s.clicks += float64(w * float64(d.Clicks))
			s.noise += float64(w * w * float64(d.Clicks))
		}
		if s.impressions > 0 || s.clicks > 0 {
			list = append(list, s)
		}
	}
	return list
}

func weight(age int64, halfLife float64) float64 {
	if age <= 0 || halfLife == 0 {
		return 1
	}
	return math.Exp2(-float64(age) / halfLife)
}
