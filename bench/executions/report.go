package executions

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"adshard/bench/measure"
	"adshard/internal/outfile"
)

// Report is the result of Run, or of several runs whose reports differ only in setups and
// layouts.
type Report struct {
	Runs []Made `json:"runs"`
	// Keywords is the number of keywords of one slave; Times is how often queries were
	// executed; Limit is the number of seconds after which a layout was stopped, or 0 for no
	// limit.
	Keywords int64   `json:"keywords"`
	Times    int     `json:"times"`
	Limit    float64 `json:"limit_seconds"`
	Seed     uint64  `json:"seed"`
	// Queries says what was asked, Outcomes what was measured.
	Queries  []Asked   `json:"queries"`
	Outcomes []Outcome `json:"outcomes"`
	// Absent says why layouts are missing, by name.
	Absent map[string]string `json:"absent,omitempty"`
}

// Made says how outcomes were made.
type Made struct {
	Command string `json:"command"`
	Commit  string `json:"commit"`
	Load    string `json:"load"`
	Machine string `json:"machine"`
	Date    string `json:"date"`
}

// Asked describes what one kind of setup asks, by slaves (1S, 5S, 8S): how many keywords a
// query matches on average; how many keywords begin with one of its words, so that a
// search by first word looks at them; and the share of the queries that match no keyword.
type Asked struct {
	Name    string             `json:"name"`
	Matches map[string]float64 `json:"matches"`
	Begin   map[string]float64 `json:"begin"`
	None    map[string]float64 `json:"none"`
}

// Outcome is the result of one layout on one setup; times are in µs.
type Outcome struct {
	Setup  string `json:"setup"`
	Layout string `json:"layout"`
	// Medians holds the medians of the runs, by the number of the run. All other fields are
	// those of the run with the middle median.
	Medians map[int]float64 `json:"medians"`
	// Keywords and Executions are counts. Box describes the second half of the executions,
	// Course all of them.
	Keywords   int    `json:"keywords"`
	Executions int    `json:"executions"`
	Box        Box    `json:"box"`
	Course     Course `json:"course"`
	// Cost is the cost of random queries; nil if it is not known.
	Cost *Cost `json:"cost,omitempty"`
	// Disk is the number of bytes per keyword on disk, Cache the number that may be in
	// memory; 0: all.
	Disk  float64 `json:"disk"`
	Cache float64 `json:"cache"`
}

// find returns the outcome of a layout on a setup, or nil if there is none.
func (r *Report) find(setup, layout string) *Outcome {
	i := slices.IndexFunc(r.Outcomes, func(o Outcome) bool { return o.Setup == setup && o.Layout == layout })
	if i < 0 {
		return nil
	}
	return &r.Outcomes[i]
}

// of returns the outcomes of a setup.
func (r *Report) of(setup string) (out []*Outcome) {
	for i := range r.Outcomes {
		if r.Outcomes[i].Setup == setup {
			out = append(out, &r.Outcomes[i])
		}
	}
	return out
}

// WriteFile writes the report as JSON.
func (r *Report) WriteFile(name string) error {
	return outfile.Output{Path: name, Kind: outfile.Kind{Name: "a report", Is: outfile.Begins("{\n \"runs\": ")}}.WriteJSON(r)
}

// WriteClaims writes the claims of the thesis beside the report's results as a Markdown
// table.
func (r *Report) WriteClaims(w io.Writer) error {
	list := r.claims()
	for i := range list {
		c := &list[i]
		if i == 0 {
			if _, err := io.WriteString(w, "| where | the thesis | ours | verdict |\n| --- | --- | --- | --- |\n"); err != nil {
				return err
			}
		}
		if _, err := fmt.Fprintf(w, "| %s | %s | %s | %s |\n", c.Where, c.Paper, c.Ours, c.Verdict()); err != nil {
			return err
		}
	}
	return nil
}

// Header returns the header of Rows.
func Header() []string {
	return []string{"layout", "executions", "median, µs", "of the runs", "quartiles", "whiskers", "beyond, %", "largest", "of the first hundredth"}
}

// Rows returns the table rows of a setup.
func (r *Report) Rows(setup string) (rows [][]string) {
	for _, o := range r.of(setup) {
		number := measure.Number
		rows = append(rows, []string{o.Layout, number(float64(o.Executions)), number(o.Box.Median), o.spread(), number(o.Box.Q1) + " – " + number(o.Box.Q3),
			number(o.Box.Low) + " – " + number(o.Box.High), number(100 * float64(o.Box.Beyond) / float64(o.Executions-o.Executions/2)), number(o.Box.Most),
			number(o.Course.Medians[0])})
	}
	return rows
}

// spread returns the smallest and the largest of the runs' medians.
func (o *Outcome) spread() string {
	if len(o.Medians) < 2 {
		return "–"
	}
	all := slices.Sorted(maps.Values(o.Medians))
	return measure.Number(all[0]) + " – " + measure.Number(all[len(all)-1])
}

// runs returns the number of runs of the outcome with the fewest.
func (r *Report) runs() int {
	least := len(r.Outcomes[0].Medians)
	for i := range r.Outcomes {
		least = min(least, len(r.Outcomes[i].Medians))
	}
	return least
}
