package measure

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"text/tabwriter"

	"adshard/internal/outfile"
)

// Report is the outcome of one command.
type Report struct {
	// Name is the subcommand, Command the whole command line that makes the
	// report.
	Name    string `json:"name"`
	Command string `json:"command"`
	// Commit is the program's commit, Load the machine's load averages before the
	// measurement.
	Commit string `json:"commit,omitempty"`
	Load   string `json:"load,omitempty"`
	// Figures are in the order in which they are shown.
	Figures []Figure `json:"figures"`
	// Notes are shown below the table.
	Notes []string `json:"notes,omitempty"`
}

// Figure is one measured number. If it was measured in several rounds, Value
// is their median, and Least and Most are the extremes.
type Figure struct {
	Name  string   `json:"name"`
	Value float64  `json:"value"`
	Unit  string   `json:"unit,omitempty"`
	Least *float64 `json:"least,omitempty"`
	Most  *float64 `json:"most,omitempty"`
}

// Add adds a figure with one value.
func (r *Report) Add(name, unit string, value float64) {
	r.Figures = append(r.Figures, Figure{Name: name, Value: value, Unit: unit})
}

// AddRounds adds a figure that was measured in rounds, unless values is empty.
func (r *Report) AddRounds(name, unit string, values []float64) {
	if len(values) == 0 {
		return
	}
	least, median, most := Rounds(values)
	r.Figures = append(r.Figures, Figure{Name: name, Value: median, Unit: unit, Least: &least, Most: &most})
}

// AddSpread adds the figures of a spread; prefix is put before their names.
func (r *Report) AddSpread(prefix string, s Spread) {
	for _, f := range []Figure{
		{Name: "median", Value: s.Median}, {Name: "p90", Value: s.P90}, {Name: "p99", Value: s.P99},
		{Name: "p99.9", Value: s.P999}, {Name: "max", Value: s.Max}, {Name: "mean", Value: s.Mean},
	} {
		r.Add(prefix+f.Name, "µs", f.Value)
	}
}

// Note adds a line below the table.
func (r *Report) Note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

// Find returns the figure with a name.
func (r *Report) Find(name string) (Figure, bool) {
	for _, f := range r.Figures {
		if f.Name == name {
			return f, true
		}
	}
	return Figure{}, false
}

// WriteTable writes the report for a terminal.
func (r *Report) WriteTable(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, f := range r.Figures {
		between := ""
		if f.Least != nil && f.Most != nil {
			between = Number(*f.Least) + " to " + Number(*f.Most)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t\n", f.Name, Number(f.Value), f.Unit, between)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, n := range r.Notes {
		if _, err := fmt.Fprintln(w, n); err != nil {
			return err
		}
	}
	return nil
}

// WriteFile writes the report as JSON.
func (r *Report) WriteFile(name string) error {
	return outfile.Output{Path: name, Kind: outfile.Kind{Name: "a report", Is: outfile.Begins("{\n \"name\": ")}}.WriteJSON(r)
}

// ReadFile reads a report that WriteFile wrote.
func ReadFile(name string) (*Report, error) {
	raw, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	r := new(Report)
	if err := json.Unmarshal(raw, r); err != nil {
		return nil, fmt.Errorf("%s is not a report of adbench: %w", name, err)
	}
	return r, nil
}

// Number formats a number with at least three digits, and large ones in groups
// of three.
func Number(v float64) string {
	switch {
	case v < 0:
		return "-" + Number(-v)
	case v == 0:
		return "0"
	case v < 10:
		return trimmed(strconv.FormatFloat(v, 'f', 2, 64))
	case v < 100:
		return trimmed(strconv.FormatFloat(v, 'f', 1, 64))
	}
	s := strconv.FormatFloat(v, 'f', 0, 64)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// trimmed removes the trailing zeros of a fraction.
func trimmed(s string) string {
	for s[len(s)-1] == '0' {
		s = s[:len(s)-1]
	}
	if s[len(s)-1] == '.' {
		return s[:len(s)-1]
	}
	return s
}
