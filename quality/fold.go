package quality

import "math"

// shown is the decayed counts of an ad in a position.
type shown struct {
	Key
	position            uint8
	impressions, clicks float64
	// examined is how many impressions at the top, at a factor of one, would be clicked
	// as often.
	examined float64
	// noise is the variance of clicks for a given rate, estimated: that of a Poisson
	// distribution is its mean, and a weight counts twice.
	noise float64
}

// fold decays and sums the days of each place, in ascending order. Days to come weigh
// as much as today: clocks of collectors differ.
func (c *Counts) fold(today int32, halfLife float64) []shown {
	list := make([]shown, 0, len(c.places))
	for _, p := range c.sorted() {
		s := shown{Key: p.Key, position: p.position}
		for _, d := range c.places[p] {
			w := weight(int64(today)-int64(d.day), halfLife)
			// The conversions keep a compiler from fusing, which rounds differently.
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
