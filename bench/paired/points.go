package paired

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"adshard/bench/measure"
)

// point is a target that rows are held against.
type point struct {
	what string
	// of says which rows it is about.
	of func(r *Row) bool
	// value is the figure with its spread; false: the row has none.
	value           func(r *Row) (Spread, bool)
	atLeast, atMost float64
}

func (r *Row) is(name, setup string) bool { return r.Name == name && r.Setup == setup }

// points are what the served search has to reach, as far as single rows show it.
func points() []point {
	log := func(r *Row) bool { return r.is("served", "log") && r.Keywords >= 1_000_000 }
	times := func(other string, atLeast float64) point {
		return point{what: "times the throughput of " + other, of: log, atLeast: atLeast,
			value: func(r *Row) (Spread, bool) { s, ok := r.Ratios[other]; return s, ok }}
	}
	bytes := func(what string, atMost float64, value func(Bytes) float64) point {
		return point{what: what, of: log, atMost: atMost, value: func(r *Row) (Spread, bool) {
			v := value(r.BytesPerKeyword)
			return Spread{v, v, v}, v > 0
		}}
	}
	p99 := func(r *Row) (Spread, bool) { return Spread{r.P99 / 1e3, r.Least.P99 / 1e3, r.Most.P99 / 1e3}, true }
	cold := func(r *Row) bool { return r.Name == "served" && strings.HasSuffix(r.Setup, ", cache 10 %") }
	changing := func(r *Row) bool { return r.Name == "served" && strings.HasSuffix(r.Setup, "changes/s") }
	return []point{
		times(Baseline, 100), times(Floor, 1.0/3), times("lucene", 10), times("postgres", 100), times("bleve", 100),
		{what: "p99, ms", of: log, value: p99, atMost: 1},
		bytes("bytes a keyword on disk, matching data", 60, func(b Bytes) float64 { return b.Matching }),
		bytes("bytes a keyword on disk, in all", 120, func(b Bytes) float64 { return b.Disk }),
		{what: "p99, ms", of: cold, value: p99, atMost: 20},
		{what: "keywords changed a second", of: changing, atLeast: 49_500, value: func(r *Row) (Spread, bool) { return r.Changes.PerSecond, true }},
		{what: "p99 while keywords change, of that at rest", of: changing, atMost: 2, value: func(r *Row) (Spread, bool) { return r.Changes.P99ToRest, true }},
	}
}

const missed = "missed"

// Points holds the result against what the served search has to reach: a header,
// then a row for each figure. A result that has none of them gives no rows.
func (r *Result) Points() *Table {
	t := &Table{Title: "What the served search is to reach", Rows: [][]string{{"what", "keywords, setup", "median", "least to most", "target", ""}}}
	for _, p := range points() {
		for _, row := range r.firsts() {
			if !p.of(row) {
				continue
			}
			if s, ok := p.value(row); ok {
				t.Rows = append(t.Rows, p.row(count(row.Keywords)+", "+row.Setup, s))
			}
		}
	}
	t.Rows = append(t.Rows, r.growthPoints()...)
	if len(t.Rows) == 1 {
		t.Rows = nil
	}
	return t
}

func (p *point) row(where string, s Spread) []string {
	target, met := "≤ "+factor(p.atMost), s.Median <= p.atMost
	if p.atLeast > 0 {
		target, met = "≥ "+factor(p.atLeast), s.Median >= p.atLeast
	}
	verdict := missed
	if met {
		verdict = "met"
	}
	return []string{p.what, where, factor(s.Median), factor(s.Least) + " to " + factor(s.Most), target, verdict}
}

// growthPoints are about several rows: ten times the keywords, a thousand times
// the matches.
func (r *Result) growthPoints() (out [][]string) {
	keywords := point{what: "median time at 10 × the keywords, times", atMost: 1.3}
	for _, l := range r.lines() {
		for _, n := range r.sizes() {
			less, ok := l.p50[n/10]
			if more := l.p50[n]; ok && n%10 == 0 && more > 0 && less > 0 && l.name == "served" && l.setup == "log" {
				out = append(out, keywords.row(count(n)+", "+l.setup, Spread{more / less, more / less, more / less}))
			}
		}
	}
	matches := point{what: "median time at 1,000 × the matches, times", atMost: 3}
	for _, rows := range r.matching() {
		for _, pair := range [][2]string{{"matches 10", "matches 10000"}, {"four 30", "four 30000"}} {
			few, many := rowOf(rows, pair[0]), rowOf(rows, pair[1])
			if few == nil || many == nil || few.Name != "served-top" || few.P50 <= 0 || few.Keywords < 1_000_000 {
				continue
			}
			v := many.P50 / few.P50
			where := fmt.Sprintf("%s, %s (%s) and %s (%s)", count(few.Keywords),
				pair[0], measure.Number(few.matchesEach()), pair[1], measure.Number(many.matchesEach()))
			out = append(out, matches.row(where, Spread{v, v, v}))
		}
	}
	return out
}

// rowOf finds the row with such queries and no conditions.
func rowOf(rows []*Row, setup string) *Row {
	i := slices.IndexFunc(rows, func(r *Row) bool { return r.Setup == setup })
	if i < 0 {
		return nil
	}
	return rows[i]
}

// WriteMarkdown writes the table as Markdown.
func (t *Table) WriteMarkdown(w io.Writer) error {
	for i, row := range t.Rows {
		row = slices.Clone(row)
		for j := range row {
			if row[j] == missed {
				row[j] = "**" + missed + "**"
			}
		}
		if _, err := fmt.Fprintf(w, "| %s |\n", strings.Join(row, " | ")); err != nil {
			return err
		}
		if i == 0 {
			if _, err := fmt.Fprintln(w, "|"+strings.Repeat(" --- |", len(row))); err != nil {
				return err
			}
		}
	}
	return nil
}
