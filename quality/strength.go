package quality

const (
	// defaultStrength holds where too little is known to estimate one.
	defaultStrength = 5
	// minStrength and maxStrength bound estimates: from rates with a deviation above 100 % of
	// themselves to one of 3 %.
	minStrength, maxStrength = 1, 1000
	// priorStrength is what Options.Prior is worth, in clicks.
	priorStrength = 1
)

// strengthOf is how many clicks the parent of the nodes of a level is worth to them. If rates
// differ by a part 1/√s from their parent's, in standard deviations, that is s.
//
// The part is estimated by moments, like credibility by Bühlmann and Straub ("Glaubwürdigkeit für
// Schadensätze", 1970): the variance of the rates of a parent's nodes beyond chance, divided by the
// square of the parent's rate, weighted by examined impressions. It is relative, so that parents of
// different rates can be pooled; chance is subtracted from the squared rate as well.
func strengthOf(list nodes, above Level) float64 {
	apart, square := 0.0, 0.0
	for len(list) > 0 {
		owner, _ := list[0].key.at(above)
		n := 0
		for n < len(list) {
			if up, _ := list[n].key.at(above); up != owner {
				break
			}
			n++
		}
		a, s := list[:n].moments()
		apart, square = apart+a, square+s
		list = list[n:]
	}
	switch {
	case square <= 0:
		return defaultStrength
	case apart <= 0:
		return maxStrength
	}
	return max(minStrength, min(maxStrength, square/apart))
}

// moments returns, for the nodes of one parent, the variance of their rates beyond chance, and what
// that would be if their standard deviation equalled their mean.
func (list nodes) moments() (apart, square float64) {
	clicks, examined, noise, squares := 0.0, 0.0, 0.0, 0.0
	for i := range list {
		n := &list[i]
		clicks, examined, noise = clicks+n.clicks, examined+n.examined, noise+n.noise
		squares += float64(n.examined * n.examined)
	}
	if examined == 0 {
		return 0, 0
	}
	mean := clicks / examined
	for i := range list {
		n := &list[i]
		if n.examined == 0 {
			continue
		}
		off := n.clicks/n.examined - mean
		apart += float64(n.examined*off*off) - n.noise/n.examined
	}
	apart += noise / examined
	square = (float64(clicks*clicks) - noise) / examined / examined * (examined - squares/examined)
	return apart, square
}
