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

// feature is one that a model may have weights of.
type feature struct {
	name string // in files of models
	said func(*countfile.Says) bool
	// text is its value in an example, as files have it; "": none.
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

// Features are the names of all features.
func Features() (names []string) {
	for _, f := range all {
		names = append(names, f.name)
	}
	return names
}

// chosen are the features of these names, or of all names if there are none, that the rows carry. A name that is
// given must be carried.
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

// value is a value of a feature, by its index among the chosen.
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

// leastClicks is how many clicks must be expected of a value that gets a weight.
const leastClicks = 5

// dictionaryOf has the values of which enough is expected in the examples that are not held out.
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

// set sets which weights apply to examples.
func (d *dictionary) set(list []example) {
	for i := range list {
		for f := range d.features {
			if w, ok := d.find(f, d.features[f].text(&list[i])); ok {
				list[i].weights = append(list[i].weights, w)
			}
		}
	}
}

// find is the weight of a value; of a site that of the longest domain that has one.
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
