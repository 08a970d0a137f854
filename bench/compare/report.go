package compare

import (
	"encoding/json"
	"errors"
	"math"
	"os"

	"adshard/bench/measure"
	"adshard/bench/trace"
	"adshard/bench/workload"
	"adshard/fault"
	"adshard/internal/outfile"
)

// Comparison is the outcome of one command. All numbers are finite.
type Comparison struct {
	Command string `json:"command"`
	Machine string `json:"machine"`
	Date    string `json:"date"`
	// Commit is the program's commit, Load the machine's load averages before the run; both are ""
	// in files that are older than these fields.
	Commit string `json:"commit,omitempty"`
	Load   string `json:"load,omitempty"`
	// Mode is "processes", "simulated" or "study".
	Mode string `json:"mode"`
	// Order is the order of the keys; "" in files that are older than this field.
	Order    string  `json:"order,omitempty"`
	Groups   int     `json:"groups"`
	Keywords uint64  `json:"keywords"`
	Workload string  `json:"workload,omitempty"`
	About    string  `json:"about,omitempty"`
	Queries  int     `json:"queries,omitempty"`
	Slaves   int     `json:"slaves,omitempty"`
	Rate     float64 `json:"rate,omitempty"`
	Seconds  float64 `json:"seconds,omitempty"`
	// Shifts are the seconds at which the mix of queries changes.
	Shifts []float64 `json:"shifts,omitempty"`
	Runs   []Run     `json:"runs,omitempty"`
	Study  []Placed  `json:"study,omitempty"`
	// Iterations says what one iteration of each strategy costs.
	Iterations []Iteration `json:"iterations,omitempty"`
	Notes      []string    `json:"notes,omitempty"`
}

// Run is the result of one strategy.
type Run struct {
	Strategy string           `json:"strategy"`
	Figures  []measure.Figure `json:"figures"`
	Series   []Series         `json:"series"`
	Notes    []string         `json:"notes,omitempty"`
	// Events lists the balancer's actions, with their times.
	Events []string `json:"events,omitempty"`
}

// Series is a quantity over time; X is seconds since the load began.
type Series struct {
	// Of is one of the constants below. Name distinguishes lines of one kind (slaves); "" if there
	// is only one.
	Of   string    `json:"of"`
	Name string    `json:"name,omitempty"`
	X    []float64 `json:"x"`
	Y    []float64 `json:"y"`
}

// The kinds of series.
const (
	MaxOverMean = "max/mean of load"
	LowerBound  = "lower bound of max/mean"
	// TracedMaxOverMean is computed from what queries cost in the trace, MaxOverMean from what the
	// balancer measures.
	TracedMaxOverMean = "max/mean of load by the trace"

	PerQuery   = "slowest slave of a query ÷ the query's bound"
	SlaveLoad  = "load of each slave"
	SlaveItems = "groups on each slave"
	SlaveP99   = "p99 at each slave, ms"
	MasterP50  = "p50 at the master, ms"
	MasterP99  = "p99 at the master, ms"
	MovedItems = "groups moved"
	InFlight   = "moves under way"
	Answers    = "answers a second"
	Incomplete = "incomplete answers"
)

// Add adds a figure, unless its value is not finite.
func (r *Run) Add(name, unit string, value float64) {
	if !math.IsNaN(value) && !math.IsInf(value, 0) {
		r.Figures = append(r.Figures, measure.Figure{Name: name, Unit: unit, Value: value})
	}
}

// Find returns the value of the figure with a name.
func (r *Run) Find(name string) (float64, bool) {
	for _, f := range r.Figures {
		if f.Name == name {
			return f.Value, true
		}
	}
	return 0, false
}

// Point adds a point to a series, unless y is not finite.
func (r *Run) Point(of, name string, x, y float64) {
	if math.IsNaN(y) || math.IsInf(y, 0) {
		return
	}
	for i := range r.Series {
		if s := &r.Series[i]; s.Of == of && s.Name == name {
			s.X, s.Y = append(s.X, x), append(s.Y, y)
			return
		}
	}
	r.Series = append(r.Series, Series{Of: of, Name: name, X: []float64{x}, Y: []float64{y}})
}

// Lines returns the series of a kind.
func (r *Run) Lines(of string) (out []Series) {
	for _, s := range r.Series {
		if s.Of == of {
			out = append(out, s)
		}
	}
	return out
}

// WriteFile writes the comparison as JSON.
func (c *Comparison) WriteFile(name string) error {
	return outfile.Output{Path: name, Kind: outfile.Kind{Name: "a report", Is: outfile.Begins("{\n \"command\": ")}}.WriteJSON(c)
}

// ReadFile reads a comparison that WriteFile wrote. Errors: fault.NotFound, and fault.Invalid
// for a file of another format.
func ReadFile(name string) (*Comparison, error) {
	const op = "compare: read"
	raw, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fault.Newf(fault.NotFound, op, "%s is not there: name a file that --json wrote", name)
	}
	if err != nil {
		return nil, fault.New(fault.Internal, op, err)
	}
	c := new(Comparison)
	if err := json.Unmarshal(raw, c); err != nil {
		return nil, fault.Newf(fault.Invalid, op, "%s holds no comparison: name a file that --json wrote (%v)", name, err)
	}
	if len(c.Runs)+len(c.Study) == 0 {
		return nil, fault.Newf(fault.Invalid, op, "%s holds no comparison: name a file that `adbench balance --json` wrote", name)
	}
	return c, nil
}

// Describe records which data the trace was made from.
func (c *Comparison) Describe(t *trace.Trace) {
	c.Groups, c.Keywords, c.Order = len(t.Keys), 0, t.Order.String()
	for _, n := range t.Keywords {
		c.Keywords += uint64(n)
	}
}

// DescribeRun records which queries are asked, and of which cluster.
func (c *Comparison) DescribeRun(w *workload.Workload, o Options) {
	c.Workload, c.About, c.Queries = w.Name, w.About, len(w.Queries)
	c.Slaves, c.Rate, c.Seconds = o.Slaves, w.MeanRate(o.Rate, o.Duration), o.Duration.Seconds()
	c.Shifts = o.shifts(w)
	if w.Note != "" {
		c.Notes = append(c.Notes, w.Note)
	}
}
