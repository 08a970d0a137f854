package quality

const (
	// defaultStrength is used if too little is known to estimate a strength.
	defaultStrength = 5
	// minStrength and maxStrength bound estimates: they correspond to rates that deviate by 100 %
	// and by 3 %.
	minStrength, maxStrength = 1, 1000
	// priorStrength is the number of clicks that Options.Prior is worth.
	priorStrength = 1
)

// strengthOf returns the number of clicks that the parent of a level's nodes is worth to them. If
// rates deviate from their parent's by a part 1/√s of it, in standard deviations, that is s.
//
// The part is estimated by moments, as credibility is by Bühlmann and Straub ("Glaubwürdigkeit für
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

// moments returns, for the nodes of one parent, the variance of their rates beyond chance, and the
// value that it would have if their standard deviation equalled their mean.
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
