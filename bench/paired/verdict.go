package paired

import (
	"fmt"
	"slices"
	"strings"

	"adshard/bench/measure"
)

// verdict says in a few sentences what was found, good or bad.
func (r *Result) verdict() (out []string) {
	if v := r.Points().verdict(); v != "" {
		out = append(out, v)
	}
	all := r.sections()
	if len(all) <= 3 {
		for _, s := range all {
			out = append(out, s.verdict())
		}
		return out
	}
	won, order := map[string]int{}, []string(nil)
	for _, s := range all {
		if best := s.best(); best != nil {
			if won[best.Name] == 0 {
				order = append(order, best.Name)
			}
			won[best.Name]++
		}
	}
	slices.SortStableFunc(order, func(a, b string) int { return won[b] - won[a] })
	var parts []string
	for _, name := range order {
		parts = append(parts, fmt.Sprintf("%s in %d", name, won[name]))
	}
	return append(out, fmt.Sprintf("Fastest in %d comparisons, the floor aside: %s.", len(all), strings.Join(parts, ", ")))
}

// verdict says how many targets are met and which are missed; it returns "" if
// there are none.
func (t *Table) verdict() string {
	met, failed := 0, []string(nil)
	for _, row := range t.Rows[min(1, len(t.Rows)):] {
		switch row[len(row)-1] {
		case reached:
			met++
		case missed:
			failed = append(failed, fmt.Sprintf("%s, %s: %s (target %s)", row[0], row[1], row[2], row[4]))
		}
	}
	switch {
	case met+len(failed) == 0:
		return ""
	case len(failed) == 0:
		return fmt.Sprintf("All %d targets are met.", met)
	}
	return fmt.Sprintf("%d of %d targets are met. Missed: %s.", met, met+len(failed), strings.Join(failed, "; "))
}

// best returns the competing row with the highest throughput, or nil if there is
// none.
func (s *section) best() *Row {
	for _, row := range s.fastestFirst() {
		if row.competes() {
			return row
		}
	}
	return nil
}

func (s *section) verdict() string {
	best := s.best()
	if best == nil {
		return s.title() + ": only the floor was measured."
	}
	var second *Row
	for _, row := range s.fastestFirst() {
		if row.competes() && row.family() != best.family() {
			second = row
			break
		}
	}
	text := fmt.Sprintf("%s keywords, %s: %s is the fastest, %s queries/s, p99 %s µs", count(s.keywords), s.setup,
		best.Name, measure.Number(best.QueriesPerSecond), measure.Number(best.P99))
	if second != nil && second.QueriesPerSecond > 0 {
		text += fmt.Sprintf(", %s times as fast as %s, the best of the others (%s queries/s)",
			factor(best.QueriesPerSecond/second.QueriesPerSecond), second.Name, measure.Number(second.QueriesPerSecond))
	}
	return text + "."
}
