package premise

import (
	"fmt"
	"strings"
)

// What a strategy is against Fixed at a cost.
const (
	worth     = "worth it"
	worse     = "worse"
	undecided = "not decided"
	notTested = "not tested"
)

// The limits do not overlap: between them nothing is decided.
const (
	// fewRounds decide nothing.
	leastRounds = 3
	// better is the p99 over that of Fixed below which a round is better, harm that above which it is worse.
	better, harm = 0.8, 1.25
	// bearable is a share of incomplete answers that decides nothing; half or twice as many do.
	bearable = 0.01
)

// judge compares a strategy with Fixed round by round: it is worth it, or worse, if it is in every one.
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

// findings say for each cost which strategies are worth it.
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
