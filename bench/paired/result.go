package paired

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"

	"adshard/fault"
	"adshard/internal/outfile"
)

// Result is the outcome of a run, or of several joined.
type Result struct {
	// Runs are the commands that made the rows.
	Runs []Made `json:"runs"`
	Rows []Row  `json:"rows"`
	// Absent lists layouts and peers that could not take part.
	Absent []Absent `json:"absent,omitempty"`
}

// Made says how rows were made.
type Made struct {
	Command string `json:"command"`
	Machine string `json:"machine"`
	Date    string `json:"date"`
	// Commit is the program's commit, Load the machine's load averages before the
	// run; both are "" in files that are older than these fields.
	Commit string `json:"commit,omitempty"`
	Load   string `json:"load,omitempty"`
	// Rounds is the number of rounds, Seconds the time of a layout on a setup in all
	// rounds together.
	Rounds  int      `json:"rounds"`
	Seconds float64  `json:"seconds"`
	Notes   []string `json:"notes,omitempty"`
}

// Absent is a layout that was left out.
type Absent struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// Row is the result of one layout on one setup: medians of the rounds.
type Row struct {
	Name string `json:"name"`
	// Setup is the name of the queries, followed by the conditions under which they
	// were asked, after commas.
	Setup            string  `json:"setup"`
	Keywords         int     `json:"keywords"`
	QueriesPerSecond float64 `json:"queries_per_second"`
	P50              float64 `json:"p50_us"`
	P99              float64 `json:"p99_us"`
	BytesPerKeyword  Bytes   `json:"bytes_per_keyword"`
	BuildSeconds     float64 `json:"build_seconds"`
	// Matches is the number of matches of all queries of the setup, each asked once.
	// It is equal for all layouts.
	Matches uint64 `json:"matches"`
	// Queries is the number of different queries of the setup, Asked the number asked
	// in a round, which is smaller if the layout was stopped.
	Queries int     `json:"queries"`
	Asked   float64 `json:"asked_per_round"`
	// Least and Most are the extremes of the rounds.
	Least Extreme `json:"least"`
	Most  Extreme `json:"most"`
	// Ratios say how many times as fast the layout is as another one: the median
	// of the rounds' ratios of the times of the same queries, and the extremes.
	Ratios map[string]Spread `json:"ratios"`
	Peer   bool              `json:"peer,omitempty"`
	// Once: every query was asked only once, in a single pass.
	Once bool `json:"once,omitempty"`
	// Changes is set if keywords were changed meanwhile.
	Changes *Changed `json:"changes,omitempty"`
}

// Bytes says how many bytes a keyword takes. Matching is the part of Disk that is
// read to decide on matches; 0 if it is not separate from the rest.
type Bytes struct {
	Disk     float64 `json:"disk"`
	Matching float64 `json:"matching"`
	Memory   float64 `json:"memory"`
}

// Extreme holds the extremes of the figures over the rounds.
type Extreme struct {
	QueriesPerSecond float64 `json:"queries_per_second"`
	P50              float64 `json:"p50_us"`
	P99              float64 `json:"p99_us"`
}

// Spread is a median over rounds with the extremes.
type Spread struct {
	Median float64 `json:"median"`
	Least  float64 `json:"least"`
	Most   float64 `json:"most"`
}

// Changed says how many changes there were while searches ran.
type Changed struct {
	// PerSecond is the number of keywords changed per second, Share their share of
	// all operations.
	PerSecond Spread `json:"per_second"`
	Share     Spread `json:"share"`
	// P50ToRest and P99ToRest are the latencies relative to those of the same round
	// without changes.
	P50ToRest Spread `json:"p50_to_rest"`
	P99ToRest Spread `json:"p99_to_rest"`
}

// WriteFile writes the result as JSON.
func (r *Result) WriteFile(name string) error {
	return outfile.Output{Path: name, Kind: outfile.Kind{Name: "a report", Is: outfile.Begins("{\n \"runs\": ")}}.WriteJSON(r)
}

// Join reads results that WriteFile wrote and combines them, with the rows in the
// order of the files. Errors: fault.NotFound, and fault.Invalid for a file of
// another format.
func Join(names ...string) (*Result, error) {
	all := &Result{}
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if errors.Is(err, os.ErrNotExist) {
			return nil, fault.Newf(fault.NotFound, "paired: join", "%s is not there: name files that --json wrote", name)
		}
		if err != nil {
			return nil, fault.New(fault.Internal, "paired: join", err)
		}
		var one Result
		if err := json.Unmarshal(raw, &one); err != nil || len(one.Runs) == 0 {
			return nil, fault.Newf(fault.Invalid, "paired: join", "%s holds no result of adbench search: name files that --json wrote%s", name, because(err))
		}
		all.Add(&one)
	}
	return all, nil
}

// Add adds the runs and rows of another result.
func (r *Result) Add(other *Result) {
	r.Runs = append(r.Runs, other.Runs...)
	r.Rows = append(r.Rows, other.Rows...)
	for _, a := range other.Absent {
		if !slices.Contains(r.Absent, a) {
			r.Absent = append(r.Absent, a)
		}
	}
}

func because(err error) string {
	if err == nil {
		return ""
	}
	return fmt.Sprintf(" (%v)", err)
}
