package paired

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"adshard/bench/measure"
)

// point is a target that rows are compared with. Without atLeast and atMost, it is a figure
// shown beside a target.
type point struct {
	what string
	// of reports whether the point applies to a row.
	of func(r *Row) bool
	// value returns the figure with its spread, or false if the row does not have it.
	value           func(r *Row) (Spread, bool)
	atLeast, atMost float64
}

func (r *Row) is(name, setup string) bool { return r.Name == name && r.Setup == setup }

// forms lists the ways in which another system was set up. The strongest measured form
// decides.
var forms = map[string][]string{
	"lucene": {"lucene"}, "postgres": {"postgres", "postgres-anchor"}, "bleve": {"bleve", "bleve-terms"},
}

// points returns the targets of the served search that single rows can show.
func (r *Result) points() []point {
	log := func(r *Row) bool { return r.is("served", "log") && r.Keywords >= 1_000_000 }
	bytes := func(what string, atMost float64, value func(Bytes) float64) point {
		return point{what: what, of: log, atMost: atMost, value: func(r *Row) (Spread, bool) {
			v := value(r.BytesPerKeyword)
			return Spread{v, v, v}, v > 0
		}}
	}
	p99 := func(r *Row) (Spread, bool) { return Spread{r.P99 / 1e3, r.Least.P99 / 1e3, r.Most.P99 / 1e3}, true }
	cold := func(r *Row) bool { return r.Name == "served" && strings.HasSuffix(r.Setup, ", cache 10 %") }
	changing := func(r *Row) bool { return r.Name == "served" && strings.HasSuffix(r.Setup, "changes/s") }
	out := []point{times(Baseline, 100, log)}
	out = append(out, r.fasterThesis(log)...)
	out = append(out, times(Floor, 1.0/3, log))
	for _, peer := range []struct {
		name    string
		atLeast float64
	}{{"lucene", 10}, {"postgres", 100}, {"bleve", 100}} {
		out = append(out, r.strongest(peer.name, peer.atLeast, log)...)
	}
	return append(out,
		point{what: "p99, ms", of: log, value: p99, atMost: 1},
		bytes("bytes a keyword on disk, matching data", 60, func(b Bytes) float64 { return b.Matching }),
		bytes("bytes a keyword on disk, in all", 120, func(b Bytes) float64 { return b.Disk }),
		point{what: "p99, ms", of: cold, value: p99, atMost: 20},
		point{what: "keywords changed a second", of: changing, atLeast: 49_500, value: func(r *Row) (Spread, bool) { return r.Changes.PerSecond, true }},
		point{what: "p99 while keywords change, of that at rest", of: changing, atMost: 2, value: func(r *Row) (Spread, bool) { return r.Changes.P99ToRest, true }},
	)
}

func times(other string, atLeast float64, of func(*Row) bool) point {
	return point{what: "times the throughput of " + other, of: of, atLeast: atLeast,
		value: func(r *Row) (Spread, bool) { s, ok := r.Ratios[other]; return s, ok }}
}

// strongest returns the target relative to the strongest form of another system: for each row,
// the form that it beats by the least. The weaker forms follow as figures.
func (r *Result) strongest(peer string, atLeast float64, of func(*Row) bool) (out []point) {
	for _, form := range forms[peer] {
		p := times(form, 0, of)
		value := p.value
		decides := func(row *Row, want bool) (Spread, bool) {
			s, ok := value(row)
			for _, other := range forms[peer] {
				if o, there := row.Ratios[other]; there && o.Median < s.Median {
					return s, ok && !want
				}
			}
			return s, ok && want
		}
		strong, weak := p, p
		strong.atLeast, strong.value = atLeast, func(row *Row) (Spread, bool) { return decides(row, true) }
		weak.value = func(row *Row) (Spread, bool) { return decides(row, false) }
		weak.what += ", a weaker form"
		out = append(out, strong, weak)
	}
	slices.SortStableFunc(out, func(a, b point) int {
		switch {
		case a.atLeast > b.atLeast:
			return -1
		case a.atLeast < b.atLeast:
			return 1
		}
		return 0
	})
	return out
}

// fasterThesis returns points that say how many times as fast a row is as those layouts of the
// thesis that are faster here than the thesis' best.
func (r *Result) fasterThesis(of func(*Row) bool) (out []point) {
	for _, s := range r.sections() {
		at := slices.IndexFunc(s.rows, func(row *Row) bool { return row.Name == Baseline })
		if at < 0 {
			continue
		}
		fastest := s.rows[at]
		for _, row := range s.rows {
			if row.family() == thesis && row.QueriesPerSecond > fastest.QueriesPerSecond {
				fastest = row
			}
		}
		if fastest == s.rows[at] {
			continue
		}
		own := s.rows
		out = append(out, point{
			what: fmt.Sprintf("times the throughput of %s, which is faster here than %s", fastest.Name, Baseline),
			of:   func(row *Row) bool { return of(row) && slices.Contains(own, row) },
			value: func(row *Row) (Spread, bool) {
				if s, ok := row.Ratios[fastest.Name]; ok {
					return s, true
				}
				v := row.QueriesPerSecond / fastest.QueriesPerSecond
				return Spread{v, v, v}, true
			},
		})
	}
	return out
}

const (
	missed  = "missed"
	reached = "met"
)

// Points compares the result with the targets of the served search: a header, then a row for
// each figure. A result without these figures gives no rows.
func (r *Result) Points() *Table {
	t := &Table{Title: "Targets of the served search", Rows: [][]string{{"what", "keywords, setup", "median", "least to most", "target", ""}}}
	for _, p := range r.points() {
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
	target, verdict := "–", ""
	switch {
	case p.atLeast > 0:
		target, verdict = "≥ "+factor(p.atLeast), judge(s.Median >= p.atLeast)
	case p.atMost > 0:
		target, verdict = "≤ "+factor(p.atMost), judge(s.Median <= p.atMost)
	}
	return []string{p.what, where, factor(s.Median), factor(s.Least) + " to " + factor(s.Most), target, verdict}
}

func judge(met bool) string {
	if met {
		return reached
	}
	return missed
}

// growthPoints returns the rows of targets about several rows: ten times the keywords, a
// thousand times the matches.
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

// rowOf returns the row with these queries and no conditions, or nil if there is none.
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
