package executions

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"adshard/bench/measure"
	"adshard/fault"
	"adshard/internal/outfile"
)

// Report is the outcome of a run, or of several joined that differ in setups and
// layouts only.
type Report struct {
	Runs []Made `json:"runs"`
	// Keywords are those of one slave; Times is how often queries were executed, Limit the
	// seconds after which a layout was stopped; 0 means never.
	Keywords int64   `json:"keywords"`
	Times    int     `json:"times"`
	Limit    float64 `json:"limit_seconds"`
	Seed     uint64  `json:"seed"`
	// Queries are what was asked, Outcomes what came out.
	Queries  []Asked   `json:"queries"`
	Outcomes []Outcome `json:"outcomes"`
	// Absent says why layouts are left out, by name.
	Absent map[string]string `json:"absent,omitempty"`
}

// Made says by what outcomes came to be.
type Made struct {
	Command string `json:"command"`
	Commit  string `json:"commit"`
	Load    string `json:"load"`
	Machine string `json:"machine"`
	Date    string `json:"date"`
}

// Asked is what one kind of setups asks: how many keywords a query matches on average,
// and the part of its queries that match none, by slaves (1S, 5S, 8S).
type Asked struct {
	Name    string             `json:"name"`
	Matches map[string]float64 `json:"matches"`
	None    map[string]float64 `json:"none"`
}

// Outcome is what one layout showed on one setup; times are in µs.
type Outcome struct {
	Setup  string `json:"setup"`
	Layout string `json:"layout"`
	// Keywords and Executions are how many there were; Box is of the latter half of the
	// executions, Course of all.
	Keywords   int    `json:"keywords"`
	Executions int    `json:"executions"`
	Box        Box    `json:"box"`
	Course     Course `json:"course"`
	// Disk is bytes a keyword there, Cache those that may be in memory; 0: all.
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

// of are the outcomes of a setup.
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

// Join reads reports that WriteFile wrote and returns them as one. Errors:
// fault.NotFound; fault.Invalid for a file of another format, and for reports of other
// keywords, numbers of executions or seeds, or of the same layout and setup twice.
func Join(names ...string) (*Report, error) {
	var all *Report
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if errors.Is(err, os.ErrNotExist) {
			return nil, fault.Newf(fault.NotFound, "executions: join", "%s is not there: name files that --json wrote", name)
		}
		if err != nil {
			return nil, fault.New(fault.Internal, "executions: join", err)
		}
		one := new(Report)
		if err := json.Unmarshal(raw, one); err != nil || len(one.Outcomes) == 0 {
			return nil, fault.Newf(fault.Invalid, "executions: join", "%s holds no result of adbench executions: name files that --json wrote", name)
		}
		if all == nil {
			all = one
			continue
		}
		if err := all.add(one); err != nil {
			return nil, fault.Newf(fault.Invalid, "executions: join", "%s: %w", name, err)
		}
	}
	return all, nil
}

func (r *Report) add(other *Report) error {
	if r.Keywords != other.Keywords || r.Times != other.Times || r.Seed != other.Seed {
		return fmt.Errorf("it is of %d keywords, %d executions and seed %d, others are of %d, %d and %d: join what differs in setups and layouts only",
			other.Keywords, other.Times, other.Seed, r.Keywords, r.Times, r.Seed)
	}
	for i := range other.Outcomes {
		if o := &other.Outcomes[i]; r.find(o.Setup, o.Layout) != nil {
			return fmt.Errorf("it has %s on %s as another one has: name each once", o.Layout, o.Setup)
		}
	}
	r.Runs, r.Outcomes, r.Limit = append(r.Runs, other.Runs...), append(r.Outcomes, other.Outcomes...), max(r.Limit, other.Limit)
	if r.Absent == nil {
		r.Absent = make(map[string]string)
	}
	maps.Copy(r.Absent, other.Absent)
	return nil
}

// WriteClaims writes what the thesis says beside the report as a table of Markdown.
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

// Header is that of Rows.
func Header() []string {
	return []string{"layout", "executions", "median, µs", "quartiles", "whiskers", "beyond, %", "largest", "of the first hundredth"}
}

// Rows are the table of a setup.
func (r *Report) Rows(setup string) (rows [][]string) {
	for _, o := range r.of(setup) {
		number := measure.Number
		rows = append(rows, []string{o.Layout, number(float64(o.Executions)), number(o.Box.Median), number(o.Box.Q1) + " – " + number(o.Box.Q3),
			number(o.Box.Low) + " – " + number(o.Box.High), number(100 * float64(o.Box.Beyond) / float64(o.Executions-o.Executions/2)), number(o.Box.Most),
			number(o.Course.Medians[0])})
	}
	return rows
}
