package quality

import (
	"math"

	"adshard/fault"
)

// Model is what was learned. It does not change, and several goroutines may use it at once.
type Model struct {
	examination examination
	strengths   [Levels]float64
	optimism    float64
	explore     float64
	all         belief // the belief before anything was counted
	nodes       map[Key]node
}

// Learn makes a model from what was counted up to a day. It does not change the counts. It returns an
// error if the options are invalid.
func Learn(c *Counts, today int32, o Options) (*Model, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if o.Prior == 0 {
		o.Prior = DefaultPrior
	}
	list := c.fold(today, o.HalfLife)
	m := &Model{optimism: o.Optimism, explore: o.Explore, all: belief{o.Prior, 1 / priorStrength}, nodes: make(map[Key]node)}
	if len(o.Examination) > 0 {
		m.examination = given(o.Examination)
	} else {
		m.examination = estimated(list)
	}
	if err := m.examine(list, o.Factor); err != nil {
		return nil, err
	}
	for l := LevelAll; l < Levels; l++ {
		m.level(level(list, l), l, o.Strength)
	}
	return m, nil
}

// examine sets examined for each entry, which factor, unless nil, reduces.
func (m *Model) examine(list []shown, factor func(Key) float64) error {
	for i := range list {
		s := &list[i]
		s.examined = s.impressions * m.examination[s.position-1]
		if factor == nil {
			continue
		}
		f := factor(s.Key)
		if !(f > 0 && f <= 1) {
			return fault.Field("quality: learn", "factor", "the factor of %+v is %v: above 0, to 1", s.Key, f)
		}
		s.examined *= f
	}
	return nil
}

// level adds the nodes of a level below those that are already there.
func (m *Model) level(list nodes, l Level, strength float64) {
	switch {
	case l == LevelAll:
		strength = priorStrength
	case strength == 0:
		strength = strengthOf(list, l-1)
	}
	m.strengths[l] = strength
	for i := range list {
		n := &list[i]
		up := m.all
		if l > LevelAll {
			owner, _ := n.key.at(l - 1)
			up = m.nodes[owner].belief
		}
		n.belief = up.update(n.clicks, n.examined, strength)
		m.nodes[n.key] = *n
	}
}

// Examination returns how often users look at a position, from 1, relative to how often they look at
// the first.
func (m *Model) Examination(position int) float64 {
	return m.examination[max(1, min(position, MaxPosition))-1]
}

// Strength returns how many clicks the parent is worth to something at a level.
func (m *Model) Strength(l Level) float64 { return m.strengths[l] }

// Estimate is what a model says about the click rate of a key.
type Estimate struct {
	// Rate is the probability of a click at the top, at a factor of one. Bound lies above it by the
	// number of standard deviations that Options.Optimism gives. It is at most 1, and at least the
	// overall rate as long as Options.Explore demands that.
	Rate, Bound float64
	// Level is the lowest level that has counts.
	Level Level
	// Steps are the levels from LevelAll down to the key's own.
	Steps []Step
}

// Step is the estimate at one level.
type Step struct {
	Level Level
	// Impressions and Clicks are decayed. Examined is the number of impressions at the top, at a
	// factor of one, that would get as many clicks.
	Impressions, Clicks, Examined float64
	// Own is the weight of the level's own counts in the rate, 0 to 1. The rest comes from the level
	// above, whose rate is worth Strength clicks.
	Own, Strength float64
	// Rate is the click rate at the top, and Deviation its standard deviation.
	Rate, Deviation float64
}

// Estimate returns what is known about a key. For a key that was never shown, it is what is known
// about its parents.
func (m *Model) Estimate(k Key) Estimate {
	e := Estimate{Steps: make([]Step, 0, Levels)}
	up := m.all
	for l := LevelAll; l < Levels; l++ {
		key, ok := k.at(l)
		if !ok {
			break
		}
		n, counted := m.nodes[key]
		if counted {
			e.Level = l
		} else {
			n.belief = up.update(0, 0, m.strengths[l])
		}
		prior := m.strengths[l] / up.rate
		e.Steps = append(e.Steps, Step{
			Level: l, Impressions: n.impressions, Clicks: n.clicks, Examined: n.examined,
			Own: n.examined / (n.examined + prior), Strength: m.strengths[l],
			Rate: n.rate, Deviation: n.rate * math.Sqrt(n.spread),
		})
		up = n.belief
	}
	e.Rate = up.rate
	e.Bound = up.rate * (1 + float64(m.optimism*math.Sqrt(up.spread)))
	if own := e.Steps[len(e.Steps)-1]; own.Examined < m.explore {
		e.Bound = max(e.Bound, e.Steps[LevelAll].Rate)
	}
	e.Bound = min(1, e.Bound)
	return e
}
