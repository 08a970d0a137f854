package quality

import "math"

const (
	// asAbove is the number of clicks at which a position's own clicks weigh as much in its
	// examination as the position above.
	asAbove = 10
	// rounds and closeEnough end the estimate, which gains a digit every few rounds.
	rounds      = 500
	closeEnough = 1e-9
)

// examination is how often users look at positions 1 to MaxPosition, relative to how often they look
// at the first.
type examination [MaxPosition]float64

func given(list []float64) (e examination) {
	for i := range e {
		e[i] = list[min(i, len(list)-1)]
	}
	return e
}

// estimated returns the examination for which the clicks in each position equal those expected from
// the click rates of what was shown there. The rates follow from the examination and all clicks of an
// ad, so the two are computed alternately. An ad that was shown in only one position adds nothing, and
// nothing is assumed about the rates.
//
// This is the maximum likelihood estimate if clicks are Poisson distributed, with a separate rate for
// each of any number of ads (Hausman, Hall and Griliches, "Econometric models for count data",
// Econometrica 1984). It takes about fifty rounds. Expectation maximisation (Chuklin, Markov and de
// Rijke, "Click Models for Web Search", chapter 4) takes a thousand or more if few impressions are
// clicked, since an impression without a click says little about whether it was examined.
func estimated(list []shown) (e examination) {
	for i := range e {
		e[i] = 1
	}
	for range rounds {
		next := e.better(list)
		moved := 0.0
		for i := range e {
			moved = max(moved, math.Abs(next[i]-e[i])/e[i])
		}
		if e = next; moved < closeEnough {
			break
		}
	}
	return e
}

// better performs one round of estimated. list must be sorted by key.
func (e *examination) better(list []shown) (next examination) {
	var clicks, expected examination
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].Key == list[0].Key {
			n++
		}
		rate := e.rate(list[:n])
		for _, s := range list[:n] {
			clicks[s.position-1] += s.clicks
			expected[s.position-1] += float64(s.impressions * rate)
		}
		list = list[n:]
	}
	next[0] = 1
	for i := 1; i < MaxPosition; i++ {
		above := next[i-1]
		next[i] = min(1, (clicks[i]+float64(asAbove*above))/(expected[i]+asAbove))
	}
	return next
}

// rate returns the click rate at the top of an ad that was shown in some positions.
func (e *examination) rate(list []shown) float64 {
	clicks, examined := 0.0, 0.0
	for _, s := range list {
		clicks += s.clicks
		examined += float64(s.impressions * e[s.position-1])
	}
	if examined == 0 {
		return 0
	}
	return clicks / examined
}
