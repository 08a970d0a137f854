package paired

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"adshard/bench/measure"
)

// Table is a part of the result for people: a header, then rows.
type Table struct {
	Title string
	Note  string
	Rows  [][]string
}

// WriteTable writes the result for a terminal.
func (r *Result) WriteTable(w io.Writer) error {
	for _, s := range r.sections() {
		if err := s.table().write(w); err != nil {
			return err
		}
	}
	for _, t := range append(r.spaces(), r.growths()...) {
		if err := t.write(w); err != nil {
			return err
		}
	}
	for _, a := range r.Absent {
		if _, err := fmt.Fprintf(w, "left out: %s: %s\n", a.Name, a.Why); err != nil {
			return err
		}
	}
	return nil
}

func (t *Table) write(w io.Writer) error {
	if _, err := fmt.Fprintf(w, "%s\n", t.Title); err != nil {
		return err
	}
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, row := range t.Rows {
		fmt.Fprintln(out, strings.Join(row, "\t")+"\t")
	}
	fmt.Fprintln(out)
	return out.Flush()
}

// section holds the rows for the same queries on the same keywords, which can be
// compared.
type section struct {
	keywords int
	setup    string
	rows     []*Row
}

// sections returns the sections in the order in which they first occur.
func (r *Result) sections() []*section {
	var out []*section
	for i := range r.Rows {
		row := &r.Rows[i]
		at := slices.IndexFunc(out, func(s *section) bool {
			other := s.rows[0]
			return s.keywords == row.Keywords && s.setup == row.Setup && other.Queries == row.Queries && other.Matches == row.Matches
		})
		if at < 0 {
			at = len(out)
			out = append(out, &section{keywords: row.Keywords, setup: row.Setup})
		}
		out[at].rows = append(out[at].rows, row)
	}
	return out
}

// title names the section and what is the same for all its rows.
func (s *section) title() string {
	row := s.rows[0]
	queries := "one query"
	if row.Queries > 1 {
		queries = count(row.Queries) + " different queries"
	}
	return fmt.Sprintf("%s keywords, %s: %s, %s matches a query", count(s.keywords), s.setup,
		queries, measure.Number(float64(row.Matches)/float64(max(1, row.Queries))))
}

// table returns a section's table. It has a column for each layout with which
// others are compared.
func (s *section) table() *Table {
	others := s.others()
	header := []string{"", "queries/s", "least to most", "p50 µs", "p99 µs", "least to most"}
	for _, o := range others {
		header = append(header, "× "+o)
	}
	partly := slices.ContainsFunc(s.rows, func(r *Row) bool { return r.partly() })
	changes := slices.ContainsFunc(s.rows, func(r *Row) bool { return r.Changes != nil })
	if partly {
		header = append(header, "asked a round")
	}
	if changes {
		header = append(header, "changes/s", "p50 to rest", "p99 to rest")
	}
	t := &Table{Title: s.title(), Rows: [][]string{header}}
	for _, r := range s.rows {
		cells := []string{r.Name, measure.Number(r.QueriesPerSecond), between(r.Least.QueriesPerSecond, r.Most.QueriesPerSecond),
			measure.Number(r.P50), measure.Number(r.P99), between(r.Least.P99, r.Most.P99)}
		for _, o := range others {
			cells = append(cells, ratioCell(r.Ratios, o))
		}
		if partly {
			cells = append(cells, measure.Number(r.Asked))
		}
		if changes {
			cells = append(cells, r.Changes.cells()...)
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

// others returns the layouts to which rows of the section have ratios, in the
// section's order.
func (s *section) others() (out []string) {
	for _, row := range s.rows {
		if slices.ContainsFunc(s.rows, func(r *Row) bool { _, ok := r.Ratios[row.Name]; return ok }) {
			out = append(out, row.Name)
		}
	}
	return out
}

// partly reports whether there was not enough time for every query.
func (r *Row) partly() bool { return r.Asked < float64(r.Queries) }

func (c *Changed) cells() []string {
	if c == nil {
		return []string{"", "", ""}
	}
	return []string{measure.Number(c.PerSecond.Median), measure.Number(c.P50ToRest.Median), measure.Number(c.P99ToRest.Median)}
}

// spaces returns the tables of the space that keywords take, one for each number
// of keywords and for each of the conditions under which they were built.
func (r *Result) spaces() (out []*Table) {
	for _, rows := range r.builds() {
		t := &Table{Title: count(rows[0].Keywords) + " keywords" + conditionsOf(rows[0].Setup),
			Rows: [][]string{{"bytes a keyword", "disk", "of it to match", "memory", "built in s"}}}
		for _, row := range rows {
			b := row.BytesPerKeyword
			t.Rows = append(t.Rows, []string{row.Name, unlessZero(b.Disk), unlessZero(b.Matching), unlessZero(b.Memory), measure.Number(row.BuildSeconds)})
		}
		out = append(out, t)
	}
	return out
}

// builds returns rows that differ in what was built: the first of each, by
// number of keywords and conditions.
func (r *Result) builds() (out [][]*Row) {
	for i := range r.Rows {
		row := &r.Rows[i]
		if row.Changes != nil || row.Once {
			continue // shares its build with the row at rest
		}
		at := slices.IndexFunc(out, func(rows []*Row) bool {
			return rows[0].Keywords == row.Keywords && conditionsOf(rows[0].Setup) == conditionsOf(row.Setup)
		})
		if at < 0 {
			at = len(out)
			out = append(out, nil)
		}
		if !slices.ContainsFunc(out[at], func(other *Row) bool { return other.Name == row.Name }) {
			out[at] = append(out[at], row)
		}
	}
	return out
}

func unlessZero(v float64) string {
	if v == 0 {
		return "–"
	}
	return measure.Number(v)
}

func between(least, most float64) string {
	return measure.Number(least) + " to " + measure.Number(most)
}

func ratioCell(ratios map[string]Spread, other string) string {
	s, ok := ratios[other]
	if !ok {
		return "–"
	}
	return factor(s.Median)
}

// factor formats a factor with three digits, even a small one.
func factor(v float64) string {
	if v < 1 {
		return fmt.Sprintf("%.3g", v)
	}
	return measure.Number(v)
}

func count(n int) string {
	if n < 100 {
		return fmt.Sprint(n)
	}
	return measure.Number(float64(n))
}

// conditionsOf returns the part of a setup's name that gives the conditions
// under which it was asked, with the comma before it.
func conditionsOf(setup string) string {
	base := baseOf(setup)
	return setup[len(base):]
}

// baseOf returns the name of the queries, without conditions.
func baseOf(setup string) string {
	base, _, _ := strings.Cut(setup, ",")
	return base
}
