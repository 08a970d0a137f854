package quality

// Level is how far up in the hierarchy something is known.
type Level uint8

// The levels, from the top down.
const (
	LevelAll Level = iota
	LevelCampaign
	LevelGroup
	LevelKeyword
	LevelAd
	Levels = iota // the number of levels
)

// String returns the level's name.
func (l Level) String() string { return [...]string{"all", "campaign", "group", "keyword", "ad"}[l] }

// at is the key of what a key belongs to at a level; ok is false if that is unknown.
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

// node is what was counted of a key and of all below it.
type node struct {
	key Key
	// examined is how many impressions at the top, at a factor of one, would be clicked
	// as often.
	impressions, clicks, examined, noise float64
	belief
}

// belief is what is thought of a click rate: its mean, and its relative variance, the
// variance divided by the square of the mean.
type belief struct{ rate, spread float64 }

// nodes are those of one level, in ascending order of their keys.
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

// update is what is thought of a rate after so many clicks of so many examined
// impressions, when what it belongs to is known as given, and strength clicks weigh as
// much as that. A rate that is beta distributed around its owner's mean with
// strength expected clicks has this mean; the owner's own uncertainty adds to it as
// much as the owner counts.
func (up belief) update(clicks, examined, strength float64) belief {
	prior := strength / up.rate // in impressions
	rate := (clicks + strength) / (examined + prior)
	borrowed := prior / (examined + prior)
	return belief{min(1, rate), 1/(clicks+strength) + float64(borrowed*borrowed*up.spread)}
}
