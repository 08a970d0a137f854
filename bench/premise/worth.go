package premise

import (
	"fmt"
	"strings"
)

// The verdicts on a strategy compared with Fixed, for one cost of a candidate.
const (
	worth     = "worth it"
	worse     = "worse"
	undecided = "not decided"
	notTested = "not tested"
)

// The limits do not overlap: values between them decide nothing.
const (
	// leastRounds is the number of rounds below which nothing is decided.
	leastRounds = 3
	// A round is good if its p99 is at most `better` times that of Fixed, and bad if it is at
	// least `harm` times that.
	better, harm = 0.8, 1.25
	// bearable is a share of incomplete answers: lower shares are treated as equal to it. Half or
	// twice the share of Fixed decides.
	bearable = 0.01
)

// judge compares a strategy with Fixed round by round. The strategy is worth it, or worse, only
// if it is so in every round.
func judge(fixed, of []Row) string {
	rounds, good, bad := 0, 0, 0
	for _, f := range fixed {
		for _, s := range of {
			if s.Round != f.Round {
				continue
			}
			rounds++
			switch before, now := max(f.Incomplete, bearable), max(s.Incomplete, bearable); {
			case now <= before/2:
				good++
			case now >= 2*before:
				bad++
			case s.P99 <= better*f.P99 && now <= before:
				good++
			case s.P99 >= harm*f.P99 && now >= before:
				bad++
			}
		}
	}
	switch {
	case rounds == 0:
		return notTested
	case rounds < leastRounds:
		return undecided
	case good == rounds:
		return worth
	case bad == rounds:
		return worse
	}
	return undecided
}

// findings says for each cost which strategies are worth it.
func (r *Report) findings() (list []string) {
	for _, cost := range r.Costs {
		names := make(map[string][]string)
		for _, s := range r.strategies() {
			if s != Fixed {
				v := judge(r.of(cost.Trees, Fixed), r.of(cost.Trees, s))
				names[v] = append(names[v], s)
			}
		}
		var parts []string
		for _, v := range []string{worth, worse, undecided, notTested} {
			if len(names[v]) > 0 {
				parts = append(parts, v+": "+strings.Join(names[v], ", "))
			}
		}
		list = append(list, fmt.Sprintf("%s, against %s: %s.", cost.Name(), Fixed, strings.Join(parts, "; ")))
	}
	return list
}
