package premise

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"adshard/bench/measure"
)

// Cost is a model, its cost per candidate, and the rate at which the cluster is asked.
type Cost struct {
	Trees  int     `json:"trees"` // None: no scorer
	Micros float64 `json:"micros"`
	Rate   float64 `json:"rate"` // requests per second
}

// Name returns the model's cost in words.
func (c Cost) Name() string {
	if c.Trees == None {
		return "no scorer"
	}
	return measure.Number(c.Micros) + " µs a candidate"
}

// Row is the result of a strategy in a round. Times are in milliseconds.
type Row struct {
	Trees    int    `json:"trees"`
	Strategy string `json:"strategy"`
	Round    int    `json:"round"`
	// Asked is the number of requests per second, InTime that of complete answers within the
	// deadline.
	Asked  float64 `json:"asked"`
	InTime float64 `json:"in_time"`
	// P50 and P99 are latencies of all answers, complete or not. Incomplete is the share of the
	// requests without a complete answer.
	P50        float64 `json:"p50_ms"`
	P99        float64 `json:"p99_ms"`
	Incomplete float64 `json:"incomplete"`
	// Processor is the time in seconds that each slave used, MaxOverMean is the largest of these
	// over their mean, and Busiest is how much of its share the busiest slave used.
	Processor   []float64 `json:"processor_s"`
	MaxOverMean float64   `json:"max_over_mean"`
	Busiest     float64   `json:"busiest"`
	// Work is the slaves' processor time per request, in milliseconds. It grows if each slave must
	// fill a page of its own before searches may stop early.
	Work  float64 `json:"work_ms"`
	Moves uint64  `json:"moves"`
	Moved uint64  `json:"groups_moved"`
	// Late is the p99 of the delay with which the load generator read what had arrived.
	Late float64 `json:"late_ms"`
	// Error says why the row could not be measured; "" if it was.
	Error string `json:"error,omitempty"`
}

// Report is the result of the whole command.
type Report struct {
	Command  string  `json:"command"`
	Commit   string  `json:"commit"`
	Load     string  `json:"load"`
	Machine  string  `json:"machine"`
	Date     string  `json:"date"`
	Groups   uint64  `json:"groups"`
	Keywords uint64  `json:"keywords"`
	Order    string  `json:"order"`
	Slaves   int     `json:"slaves"`
	Share    float64 `json:"share"`
	// Limited: each slave had at most Share of a processor. Otherwise slaves lend each other their
	// cores.
	Limited bool    `json:"limited"`
	Of      float64 `json:"load_of_capacity"`
	// Exact: every matching keyword was scored.
	Exact bool `json:"exact"`
	// Before and After are in seconds.
	Before float64 `json:"before_s"`
	After  float64 `json:"after_s"`
	Costs  []Cost  `json:"costs"`
	Rows   []Row   `json:"rows"`
}

// of returns the measured rows of a model and strategy, by round.
func (r *Report) of(trees int, strategy string) (list []Row) {
	for _, row := range r.Rows {
		if row.Trees == trees && row.Strategy == strategy && row.Error == "" {
			list = append(list, row)
		}
	}
	return list
}

// strategies returns the names of the strategies in the order of the first round, Fixed first.
func (r *Report) strategies() (list []string) {
	for _, row := range r.Rows {
		if !slices.Contains(list, row.Strategy) {
			list = append(list, row.Strategy)
		}
	}
	if i := slices.Index(list, Fixed); i > 0 {
		list = slices.Insert(slices.Delete(list, i, i+1), 0, Fixed)
	}
	return list
}

// column is a quantity of the table.
type column struct {
	name string
	of   func(*Row) float64
	most bool // the largest value is the best
	bare bool // no value is better than another
}

var columns = []column{
	{name: "p50, ms", of: func(r *Row) float64 { return r.P50 }},
	{name: "p99, ms", of: func(r *Row) float64 { return r.P99 }},
	{name: "incomplete, %", of: func(r *Row) float64 { return 100 * r.Incomplete }},
	{name: "in time ÷ asked, %", of: func(r *Row) float64 { return 100 * r.InTime / max(r.Asked, 1e-9) }, most: true},
	{name: "slaves' processor time, max/mean", of: func(r *Row) float64 { return r.MaxOverMean }},
	{name: "busiest slave, % of its share", of: func(r *Row) float64 { return 100 * r.Busiest }},
	{name: "slaves' processor time a request, ms", of: func(r *Row) float64 { return r.Work }},
	{name: "moves", of: func(r *Row) float64 { return float64(r.Moves) }, bare: true},
	{name: "groups moved", of: func(r *Row) float64 { return float64(r.Moved) }, bare: true},
	{name: "generator late, p99, ms", of: func(r *Row) float64 { return r.Late }, bare: true},
}

// values returns the values of a column, by round.
func (c *column) values(rows []Row) (list []float64) {
	for i := range rows {
		list = append(list, c.of(&rows[i]))
	}
	return list
}

// spread formats a median with its extremes; it returns notTested if there is no value.
func spread(values []float64) string {
	least, median, most := measure.Rounds(values)
	switch {
	case len(values) == 0:
		return notTested
	case least == most:
		return measure.Number(median)
	}
	return fmt.Sprintf("%s (%s to %s)", measure.Number(median), measure.Number(least), measure.Number(most))
}

// WriteTable writes the report for a terminal.
func (r *Report) WriteTable(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "\t\trounds\t")
	for _, c := range columns {
		fmt.Fprint(t, c.name, "\t")
	}
	fmt.Fprintln(t)
	for _, cost := range r.Costs {
		for _, s := range r.strategies() {
			rows := r.of(cost.Trees, s)
			fmt.Fprintf(t, "%s\t%s\t%d\t", cost.Name(), s, len(rows))
			for i := range columns {
				fmt.Fprint(t, spread(columns[i].values(rows)), "\t")
			}
			fmt.Fprintln(t)
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, line := range append(r.findings(), r.notes()...) {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

// notes returns what a reader should know about the figures.
func (r *Report) notes() (list []string) {
	if !r.Limited {
		list = append(list, "Slaves were not limited to a share of a processor each: on one machine they lend each other their cores, and balance shows less than on machines of their own.")
	}
	for _, row := range r.Rows {
		if row.Error != "" {
			list = append(list, fmt.Sprintf("Round %d, %d trees, %s could not be measured: %s", row.Round, row.Trees, row.Strategy, row.Error))
		}
	}
	return list
}
