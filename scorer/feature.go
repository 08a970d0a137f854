package scorer

import (
	"strconv"
	"strings"
	"time"

	"adshard/search"
	"adshard/targeting"
)

// feature is one of the features of serving.md §16, in the order in which the parts of a factor are
// listed.
type feature uint8

const (
	match feature = iota
	wordCount
	qualityPoints
	advertiser
	campaign
	device
	hour
	weekday
	queryWords
	site
	features = int(site) + 1
	// numbers is the number of features with numeric values, which trees can use.
	numbers = int(site)
)

// kinds has the name and the values of each feature: names for 0, 1, 2 …, or numbers from least to
// most.
var kinds = [features]struct {
	name        string
	values      []string
	least, most uint64
}{
	match:         {name: "match", values: namesOf(search.MatchTypes, search.MatchType.String)},
	wordCount:     {name: "words", least: 1, most: search.MaxKeywordWords},
	qualityPoints: {name: "quality", least: 1, most: 10},
	advertiser:    {name: "advertiser", least: 1, most: 1<<64 - 1},
	campaign:      {name: "campaign", least: 1, most: 1<<64 - 1},
	device:        {name: "device", values: namesOf(search.Devices, search.Device.String)},
	hour:          {name: "hour", most: 23},
	weekday:       {name: "weekday", values: namesOf(7, func(d time.Weekday) string { return strings.ToLower(d.String()) })},
	queryWords:    {name: "query_words", most: search.MaxQueryUnits},
	site:          {name: "site"},
}

func namesOf[T ~uint8 | ~int](n int, name func(T) string) (list []string) {
	for i := range n {
		list = append(list, name(T(i)))
	}
	return list
}

// featureOf returns the feature with a name.
func featureOf(name string) (feature, bool) {
	for f := range kinds {
		if kinds[f].name == name {
			return feature(f), true
		}
	}
	return 0, false
}

// dense reports whether the feature has few values.
func (f feature) dense() bool { return f != advertiser && f != campaign && f != site }

// values returns the number of values, from 0, of a dense feature.
func (f feature) values() int { return max(len(kinds[f].values), int(kinds[f].most)+1) }

// parse reads a value of a numeric feature.
func (f feature) parse(text string) (uint64, bool) {
	for i, name := range kinds[f].values {
		if name == text {
			return uint64(i), true
		}
	}
	n, err := strconv.ParseUint(text, 10, 64)
	ok := err == nil && kinds[f].values == nil && n >= kinds[f].least && n <= kinds[f].most && strconv.FormatUint(n, 10) == text
	return n, ok
}

// text is the inverse of parse.
func (f feature) text(value uint64) string {
	if names := kinds[f].values; value < uint64(len(names)) {
		return names[value]
	}
	return strconv.FormatUint(value, 10)
}

// isHost reports whether a text is a host in the form in which requests carry it.
func isHost(text string) bool {
	normal, err := targeting.Host(text)
	return err == nil && normal == text
}
