package train

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"adshard/fault"
	"adshard/quality/countfile"
	"adshard/search"
)

// feature is a feature for which a model may have weights.
type feature struct {
	name string // as in model files
	said func(*countfile.Says) bool
	// text returns its value in an example, as in model files, or "" if there is none.
	text func(*example) string
}

// all are the features, in the order of serving.md §16.
var all = []feature{
	{"match", always, func(e *example) string { return search.MatchType(e.features.Match).String() }},
	{"words", always, func(e *example) string { return strconv.Itoa(int(e.features.Words)) }},
	{"quality", always, func(e *example) string { return strconv.Itoa(int(e.features.Quality)) }},
	{"advertiser", always, func(e *example) string { return strconv.FormatUint(e.features.Advertiser, 10) }},
	{"campaign", always, func(e *example) string { return strconv.FormatUint(e.features.Campaign, 10) }},
	{"device", func(s *countfile.Says) bool { return s.Device }, func(e *example) string { return search.Device(e.request.Device).String() }},
	{"hour", func(s *countfile.Says) bool { return s.Hour }, func(e *example) string { return strconv.Itoa(int(e.request.Hour)) }},
	{"weekday", always, func(e *example) string { return strings.ToLower(time.Weekday(e.request.Weekday).String()) }},
	{"query_words", func(s *countfile.Says) bool { return s.QueryWords }, func(e *example) string { return strconv.Itoa(int(e.request.Words)) }},
	{siteName, func(s *countfile.Says) bool { return s.Site }, func(e *example) string { return e.request.Site }},
}

const siteName = "site"

func always(*countfile.Says) bool { return true }

// Features returns the names of all features.
func Features() (names []string) {
	for _, f := range all {
		names = append(names, f.name)
	}
	return names
}

// chosen returns the features with the given names, or, if no names are given, all that the rows carry. It
// returns an error if the rows do not carry a named feature.
func chosen(names []string, says *countfile.Says) (list []feature, err error) {
	for _, f := range all {
		given := slices.Contains(names, f.name)
		switch {
		case given && !f.said(says):
			return nil, fault.Field("train", "features", "not all counts say %s: only files with this column do", f.name)
		case given || len(names) == 0 && f.said(says):
			list = append(list, f)
		}
	}
	return list, nil
}

// value is a value of a feature, which is given by its index among the chosen ones.
type value struct {
	feature int
	text    string
}

// dictionary numbers the values that have weights, in ascending order of feature and text.
type dictionary struct {
	features []feature
	values   []value
	index    map[value]int32
}

// leastClicks is the number of clicks that must be expected for a value that gets a weight.
const leastClicks = 5

// dictionaryOf returns the values with enough expected clicks in the examples that are not held out.
func dictionaryOf(features []feature, list []example) *dictionary {
	d := &dictionary{features: features, index: make(map[value]int32)}
	expected := make(map[value]float64)
	for i := range list {
		if e := &list[i]; !e.held {
			for f := range features {
				expected[value{f, features[f].text(e)}] += e.expected
			}
		}
	}
	for v, clicks := range expected {
		if clicks >= leastClicks && v.text != "" {
			d.values = append(d.values, v)
		}
	}
	slices.SortFunc(d.values, func(a, b value) int {
		if a.feature != b.feature {
			return a.feature - b.feature
		}
		return strings.Compare(a.text, b.text)
	})
	for i, v := range d.values {
		d.index[v] = int32(i)
	}
	return d
}

// set sets the weights that apply to each example.
func (d *dictionary) set(list []example) {
	for i := range list {
		for f := range d.features {
			if w, ok := d.find(f, d.features[f].text(&list[i])); ok {
				list[i].weights = append(list[i].weights, w)
			}
		}
	}
}

// find returns the index of a value's weight. For a site it is that of the longest domain that has a weight.
func (d *dictionary) find(f int, text string) (int32, bool) {
	for {
		w, ok := d.index[value{f, text}]
		if ok || d.features[f].name != siteName {
			return w, ok
		}
		if _, text, ok = strings.Cut(text, "."); !ok {
			return 0, false
		}
	}
}
