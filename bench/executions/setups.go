package executions

import (
	"fmt"
	"slices"
	"strings"
)

// Setup is one of the thesis' setups: the query, the number of slaves whose keywords are
// searched, and high or low resources.
type Setup struct {
	Name   string
	asked  string
	slaves int
	low    bool
}

// The queries of setups: two repeated ones, and random ones.
const (
	sq1    = "SQ1"
	sq2    = "SQ2"
	rq1600 = "RQ1600"
)

// Names returns the names of the thesis' ten setups, in its order.
func Names() []string {
	return []string{
		"SQ1-1S-HR", "SQ1-1S-LR", "SQ1-5S-LR", "SQ1-8S-HR", "SQ2-5S-LR", "SQ2-8S-HR",
		"RQ1600-1S-HR", "RQ1600-1S-LR", "RQ1600-8S-HR", "RQ1600-8S-LR",
	}
}

// Named returns a setup by its name.
func Named(name string) (Setup, error) {
	if !slices.Contains(Names(), name) {
		return Setup{}, fmt.Errorf("there is no setup %q; there are %s", name, strings.Join(Names(), ", "))
	}
	parts := strings.Split(name, "-")
	return Setup{Name: name, asked: parts[0], slaves: int(parts[1][0] - '0'), low: parts[2] == "LR"}, nil
}

// allSlaves lists the numbers of slaves whose keywords the thesis put together.
var allSlaves = [...]int{1, 5, 8}

// keywordsOf returns the number of keywords for a number of slaves if one slave has
// `one`: 10, 30 and 42 million in the thesis.
func keywordsOf(slaves int, one int64) int64 {
	switch slaves {
	case 5:
		return 3 * one
	case 8:
		return 42 * one / 10
	}
	return one
}

// gigabytes returns the size on disk of the thesis' keywords of a number of slaves.
// memory is the memory of its machines with low resources.
func gigabytes(slaves int) float64 {
	switch slaves {
	case 5:
		return 6.7
	case 8:
		return 9.2
	}
	return 2.5
}

const memory = 4.0

// share returns the share of its data that a layout may keep in memory; 0 means all.
func (s *Setup) share() float64 {
	if v := memory / gigabytes(s.slaves); s.low && v < 1 {
		return v
	}
	return 0
}

// matches returns the number of keywords that a repeated query matches in the thesis, or
// 0 if it does not say.
func matches(asked string, slaves int) float64 {
	switch {
	case asked == sq1 && slaves == 1:
		return 2
	case asked == sq1 && slaves == 5:
		return 6
	case asked == sq1:
		return 14
	case slaves == 5:
		return 69
	case slaves == 8:
		return 136
	}
	return 0
}

// Largest returns the number of keywords in the largest setups if one slave has `one`.
func Largest(one int64) int64 { return keywordsOf(8, one) }
