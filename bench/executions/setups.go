package executions

import (
	"fmt"
	"slices"
	"strings"
)

// Setup is one of the thesis' setups: what is asked, of the keywords of how many
// slaves, with high or low resources.
type Setup struct {
	Name   string
	asked  string
	slaves int
	low    bool
}

// The queries of setups: two that are asked again and again, and random ones.
const (
	sq1    = "SQ1"
	sq2    = "SQ2"
	rq1600 = "RQ1600"
)

// Names are the thesis' ten setups, in its order.
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

// allSlaves are the numbers of slaves whose keywords the thesis took together.
var allSlaves = [...]int{1, 5, 8}

// keywordsOf is how many keywords a number of slaves have if one has that many: 10, 30
// and 42 million in the thesis.
func keywordsOf(slaves int, one int64) int64 {
	switch slaves {
	case 5:
		return 3 * one
	case 8:
		return 42 * one / 10
	}
	return one
}

// gigabytes is what the thesis' keywords of a number of slaves take on disk, memory what
// its machines with low resources have.
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

// share is the part of its data that a layout may keep in memory; 0: all.
func (s *Setup) share() float64 {
	if v := memory / gigabytes(s.slaves); s.low && v < 1 {
		return v
	}
	return 0
}

// matches is how many keywords a repeated query matches in the thesis; 0: it does
// not say.
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

// Largest is how many keywords the largest setups have, if one slave has that many.
func Largest(one int64) int64 { return keywordsOf(8, one) }
