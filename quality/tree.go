package quality

// Level is a level of the hierarchy at which something is known.
type Level uint8

// The levels, from the top down.
const (
	LevelAll Level = iota
	LevelCampaign
	LevelGroup
	LevelKeyword
	LevelAd
	Levels = iota // number of levels
)

// String returns the level's name.
func (l Level) String() string { return [...]string{"all", "campaign", "group", "keyword", "ad"}[l] }

// at returns the key of a key's parent at a level. ok is false if that is unknown.
func (k Key) at(l Level) (up Key, ok bool) {
	switch l {
	case LevelAll:
		return Key{}, true
	case LevelCampaign:
		return Key{Campaign: k.Campaign}, k.Campaign != 0
	case LevelGroup:
		return Key{Campaign: k.Campaign, Group: k.Group}, k.Group != 0
	case LevelKeyword:
		k.Ad = 0
		return k, k.Keyword != 0
	}
	return k, k.Ad != 0
}

// node has the counts of a key together with everything below it.
type node struct {
	key Key
	// examined is the number of impressions at the top, at a factor of one, that would get as many
	// clicks.
	impressions, clicks, examined, noise float64
	belief
}

// belief is an estimate of a click rate: its mean and its relative variance, the variance divided
// by the square of the mean.
type belief struct{ rate, spread float64 }

// nodes are the nodes of one level, in ascending order of their keys.
type nodes []node

// level sums what was shown by the keys of a level.
func level(list []shown, l Level) (out nodes) {
	for _, s := range list {
		key, ok := s.at(l)
		if !ok {
			continue
		}
		if len(out) == 0 || out[len(out)-1].key != key {
			out = append(out, node{key: key})
		}
		n := &out[len(out)-1]
		n.impressions += s.impressions
		n.clicks += s.clicks
		n.examined += s.examined
		n.noise += s.noise
	}
	return out
}

// update returns the belief about a rate after the given clicks and examined impressions. up is the
// belief about the parent, which weighs strength clicks. A rate that is beta distributed around its
// parent's mean with strength expected clicks has this mean. The parent's own uncertainty is added
// in proportion to the parent's weight.
func (up belief) update(clicks, examined, strength float64) belief {
	prior := strength / up.rate // in impressions
	rate := (clicks + strength) / (examined + prior)
	borrowed := prior / (examined + prior)
	return belief{min(1, rate), 1/(clicks+strength) + float64(borrowed*borrowed*up.spread)}
}
