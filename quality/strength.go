package quality

const (
	// defaultStrength holds where too little is known to estimate one.
	defaultStrength = 5
	// minStrength and maxStrength bound estimates: rates that differ by more than
	// themselves, and by 3 %.
	minStrength, maxStrength = 1, 1000
	// priorStrength is what Options.Prior is worth, in clicks.
	priorStrength = 1
)

// strengthOf is how many clicks what the nodes of a level belong to is worth to them.
// If rates differ by a part 1/√s from their owner's, in standard deviations, that is s.
//
// The part is estimated by moments, as credibility is by Bühlmann and Straub
// ("Glaubwürdigkeit für Schadensätze", 1970): how far the rates of an owner's nodes are
// apart, less what chance explains, beside the square of the owner's rate, each weighed
// by its examined impressions. It is relative, so that owners of different rates can
// be asked together; and of the squared rate, too, what chance adds is taken off.
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

// moments returns, of the nodes of one owner, by how much more their rates are apart
// than chance explains, and what that would be if their standard deviation were their
// mean.
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
