package paired

import (
	"fmt"
	"slices"
	"strings"

	"adshard/bench/measure"
)

// growths returns the tables of how times grow: with the number of keywords, and
// with the matches of a query.
func (r *Result) growths() (out []*Table) {
	if t := r.byKeywords(); len(t.Rows) > 1 {
		out = append(out, t)
	}
	if t := r.byMatches(); len(t.Rows) > 1 {
		out = append(out, t)
	}
	return out
}

// byKeywords compares median times, each as a multiple of the time for the fewest
// keywords.
func (r *Result) byKeywords() *Table {
	sizes := r.sizes()
	t := &Table{Title: "Growth with the keywords", Note: "Median time of a query in µs, and how many times that of the fewest keywords."}
	header := []string{"", "setup"}
	for _, n := range sizes {
		header = append(header, count(n), "")
	}
	t.Rows = append(t.Rows, header)
	if len(sizes) < 2 {
		return t
	}
	for _, l := range r.lines() {
		row, first := []string{l.name, l.setup}, 0.0
		for _, n := range sizes {
			p50, ok := l.p50[n]
			if first == 0 {
				first = p50
			}
			row = append(row, cell(ok, p50), cell(ok && p50 != first, p50/max(first, 1e-9)))
		}
		if len(l.p50) > 1 {
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

func cell(ok bool, v float64) string {
	if !ok {
		return ""
	}
	return factor(v)
}

// firsts returns the rows without repetitions by later runs.
func (r *Result) firsts() (out []*Row) {
	seen := make(map[string]bool)
	for i := range r.Rows {
		row := &r.Rows[i]
		key := fmt.Sprint(row.Name, "\n", row.Setup, "\n", row.Keywords)
		if !seen[key] {
			out = append(out, row)
		}
		seen[key] = true
	}
	return out
}

// grown holds the median times of one layout on one setup by number of keywords.
type grown struct {
	name, setup string
	p50         map[int]float64
}

func (r *Result) lines() (out []*grown) {
	for _, row := range r.firsts() {
		at := slices.IndexFunc(out, func(g *grown) bool { return g.name == row.Name && g.setup == row.Setup })
		if at < 0 {
			at = len(out)
			out = append(out, &grown{row.Name, row.Setup, make(map[int]float64)})
		}
		out[at].p50[row.Keywords] = row.P50
	}
	return out
}

// sizes returns the numbers of keywords, rising.
func (r *Result) sizes() (out []int) {
	for i := range r.Rows {
		if n := r.Rows[i].Keywords; !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out
}

// matchSetups returns the prefix of a setup's name if it is one of the setups
// that differ in their matches, or else "".
func matchSetups(setup string) string {
	for _, group := range [...]string{"matches ", "four "} {
		if strings.HasPrefix(setup, group) {
			return group
		}
	}
	return ""
}

// byMatches compares the setups that differ in their matches, each with the one
// that has the fewest matches per query (at least one).
func (r *Result) byMatches() *Table {
	t := &Table{Title: "Growth with the matches",
		Note: "Matches of a query on average and its median time, and how many times those of the fewest matches that are there."}
	t.Rows = append(t.Rows, []string{"", "keywords", "setup", "matches a query", "×", "p50 µs", "×"})
	for _, rows := range r.matching() {
		first := rows[0]
		for _, row := range rows {
			t.Rows = append(t.Rows, []string{row.Name, count(row.Keywords), row.Setup, measure.Number(row.matchesEach()),
				measure.Number(row.matchesEach() / first.matchesEach()), factor(row.P50), factor(row.P50 / max(first.P50, 1e-9))})
		}
	}
	return t
}

func (r *Row) matchesEach() float64 { return float64(r.Matches) / float64(max(1, r.Queries)) }

// matching groups the rows of such setups by layout, keywords and conditions.
// Each group has two or more rows, those with the fewest matches first.
func (r *Result) matching() (out [][]*Row) {
	var keys []string
	for _, row := range r.firsts() {
		group := matchSetups(row.Setup)
		if group == "" || row.matchesEach() < 1 {
			continue
		}
		key := fmt.Sprint(group, row.Name, row.Keywords, conditionsOf(row.Setup))
		at := slices.Index(keys, key)
		if at < 0 {
			at = len(keys)
			keys, out = append(keys, key), append(out, nil)
		}
		out[at] = append(out[at], row)
	}
	for _, rows := range out {
		slices.SortStableFunc(rows, func(a, b *Row) int { return int(a.Matches/uint64(a.Queries)) - int(b.Matches/uint64(b.Queries)) })
	}
	return slices.DeleteFunc(out, func(rows []*Row) bool { return len(rows) < 2 })
}
