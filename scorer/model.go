package scorer

import (
	"maps"
	"slices"
	"strings"

	"adshard/auction"
	"adshard/search"
)

// Model is a model read from a file. It does not change.
type Model struct {
	id     search.ScorerID
	bias   int64
	weight [numbers][]int64          // of dense features, by value
	byID   [numbers]map[uint64]int64 // of other features
	sites  map[string]int64          // by host
	trees  trees
	// most is an upper bound of what a candidate adds.
	most int64
}

// ID identifies the model.
func (m *Model) ID() search.ScorerID { return m.id }

// For implements auction.Scorer.
func (m *Model) For(s *auction.Situation) auction.Scoring {
	c := &scoring{model: m, site: s.Site, z: m.bias + m.weightOfSite(s.Site)}
	c.at[device], c.at[hour], c.at[weekday], c.at[queryWords] = uint64(s.Device), uint64(s.Hour), uint64(s.Weekday), uint64(s.Words)
	for f := device; f <= queryWords; f++ {
		c.z += m.weightOf(f, c.at[f])
	}
	return c
}

// weightOf returns what a feature with a value adds.
func (m *Model) weightOf(f feature, value uint64) int64 {
	if list := m.weight[f]; f.dense() {
		if value < uint64(len(list)) {
			return list[value]
		}
		return 0
	}
	return m.byID[f][value]
}

// weightOfSite returns the weight of a host, or of the nearest domain above it that has a weight.
func (m *Model) weightOfSite(host string) int64 {
	for more := host != ""; more; _, host, more = strings.Cut(host, ".") {
		if w, ok := m.sites[host]; ok {
			return w
		}
	}
	return 0
}

// bound sets the upper bound of those parts that depend on more than the request.
func (m *Model) bound() {
	m.most = m.trees.most()
	for f := match; f <= campaign; f++ {
		m.most += slices.Max(append(slices.Collect(maps.Values(m.byID[f])), 0)) + slices.Max(append(m.weight[f], 0))
	}
}

// scoring is the model applied to one request.
type scoring struct {
	model *Model
	site  string
	z     int64           // bias plus what the request adds
	at    [numbers]uint64 // features of the request, then of the candidate
}

// Most implements auction.Scoring.
func (c *scoring) Most() uint64 { return factor(c.z + c.model.most) }

// Factor implements auction.Scoring.
func (c *scoring) Factor(of *auction.Features) uint64 {
	c.set(of)
	z := c.z
	for f := match; f <= campaign; f++ {
		z += c.model.weightOf(f, c.at[f])
	}
	return factor(z + c.model.trees.sum(&c.at))
}

func (c *scoring) set(of *auction.Features) {
	c.at[match], c.at[wordCount], c.at[qualityPoints] = uint64(of.Match), uint64(of.Words), uint64(of.Quality)
	c.at[advertiser], c.at[campaign] = of.Advertiser, of.Campaign
}

// Parts implements auction.Scoring.
func (c *scoring) Parts(of *auction.Features) (list []auction.Part) {
	c.set(of)
	add := func(name, value string, weight int64) {
		if weight != 0 {
			list = append(list, auction.Part{Feature: name, Value: value, Weight: weight})
		}
	}
	add("bias", "", c.model.bias)
	for f := range feature(numbers) {
		add(kinds[f].name, f.text(c.at[f]), c.model.weightOf(f, c.at[f]))
	}
	add(kinds[site].name, c.site, c.model.weightOfSite(c.site))
	add("trees", "", c.model.trees.sum(&c.at))
	return list
}
