package workload

import (
	"bufio"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"adshard/fault"
)

const (
	// maxQueries bounds the number of queries that are read from a file.
	maxQueries = 5_000_000
	// maxLine bounds a line. A body of 1 MiB as parameters fits, with three bytes for each of its
	// bytes.
	maxLine = 4 << 20
)

// FromFile reads queries from a file, one per line, without empty lines. A line is just the
// query, or the query, a tab and
//   - a number: how often it is asked, relative to the others; queries are then drawn
//     with these weights;
//   - a time as in RFC 3339: when it was asked; lines are in this order. After another tab, the line may have the rest of the
//     request as parameters, like the query log of a master.
//
// All lines are of the same kind as the first one. Queries without a number or a time are asked
// in turn. A file with commas instead of tabs is refused, because each whole line would be
// taken for a query. Errors name the line. They are fault.Invalid, or fault.NotFound if the
// file cannot be opened.
func FromFile(name string, seed uint64) (*Workload, error) {
	const op = "workload: read"
	f, err := os.Open(name)
	if err != nil {
		return nil, fault.Newf(fault.NotFound, op, "cannot read the queries: %w", err)
	}
	defer f.Close()
	r := &reader{m: &mixer{index: make(map[string]int32), w: &Workload{Name: name, seed: seed}}}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan() && len(r.sequence) < maxQueries; n++ {
		if err := r.line(lines.Text()); err != nil {
			return nil, fault.Newf(fault.Invalid, op, "%s, line %d: %w", name, n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fault.Newf(fault.Invalid, op, "cannot read the queries of %s: %w", name, err)
	}
	if len(r.sequence) == 0 {
		return nil, fault.Newf(fault.Invalid, op, "%s holds no query: write one a line", name)
	}
	if r.commas() {
		return nil, fault.Newf(fault.Invalid, op, "%s: each line ends with a comma and a number: put a tab instead of the comma if that is how often the query is asked, or a tab and a 1 behind each line if it belongs to the query", name)
	}
	w := r.workload()
	if p := w.phases[0]; p.sums[len(p.sums)-1] == 0 {
		return nil, fault.Newf(fault.Invalid, op, "%s: every query is asked 0 times: give one of them a higher count", name)
	}
	return w, nil
}

// kind says what follows the query.
type kind int

const (
	alone kind = iota
	counted
	timed
)

// reader reads a file's lines.
type reader struct {
	m        *mixer
	kind     kind
	sequence []int32
	counts   []float64 // by query
	first    time.Time
	times    []time.Duration
	numbers  int // only lines that end with a comma and a number
}

func (r *reader) line(line string) error {
	if strings.TrimSpace(line) == "" {
		return nil
	}
	text, rest, two := strings.Cut(line, "\t")
	rest, more, three := strings.Cut(rest, "\t")
	more, _, _ = strings.Cut(more, "\t") // the version of a vocabulary, for people
	is := alone
	count, notNumber := strconv.ParseFloat(rest, 64)
	at, notTime := time.Parse(time.RFC3339Nano, rest)
	switch {
	case two && notTime == nil:
		is = timed
	case two && !three && notNumber == nil && count >= 0 && count < 1e18:
		is = counted
	case two:
		return fmt.Errorf("%q is neither a count nor a time such as 2026-01-31T12:00:00Z", rest)
	}
	if !two {
		if err := r.comma(line); err != nil {
			return err
		}
	}
	if len(r.sequence) == 0 {
		r.kind, r.first = is, at
	} else if is != r.kind {
		return fmt.Errorf("what stands behind the query is of another kind than in the first line")
	}
	q, err := r.query(text, more, three && is == timed)
	if err != nil {
		return err
	}
	r.sequence = append(r.sequence, q)
	switch is {
	case counted:
		for len(r.counts) <= int(q) {
			r.counts = append(r.counts, 0)
		}
		r.counts[q] += count
	case timed:
		t := at.Sub(r.first)
		if n := len(r.times); n > 0 && t < r.times[n-1] {
			return fmt.Errorf("its time lies before that of the line above: sort the file by time")
		}
		r.times = append(r.times, t)
	}
	return nil
}

// query returns the index of a line's query.
func (r *reader) query(text, more string, inContext bool) (int32, error) {
	if !inContext {
		return r.m.query(text), nil
	}
	context, err := url.ParseQuery(more)
	if err != nil {
		return 0, fmt.Errorf("what stands behind the time is not a list of parameters such as location=2203&site=a.example: %w", err)
	}
	return r.m.inContext(text, context), nil
}

// comma returns an error if a time follows a comma or semicolon instead of a tab. A number
// there may be part of the query.
func (r *reader) comma(line string) error {
	i := strings.LastIndexAny(line, ",;")
	if i < 0 {
		return nil
	}
	rest := strings.Trim(line[i+1:], ` "`)
	if len(rest) > len(time.DateOnly) {
		if _, err := time.Parse(time.DateOnly, rest[:len(time.DateOnly)]); err == nil {
			return fmt.Errorf("a %q stands before the time %s: put a tab there", line[i:i+1], rest)
		}
	}
	if _, err := strconv.ParseFloat(rest, 64); err == nil {
		r.numbers++
	}
	return nil
}

// commas reports whether all lines end with a comma and a number, except one that may name the
// columns.
func (r *reader) commas() bool {
	n := len(r.sequence)
	return r.kind == alone && r.numbers > 0 && (r.numbers == n || r.numbers == n-1 && n > 2)
}

func (r *reader) workload() *Workload {
	w := r.m.w
	switch r.kind {
	case counted:
		w.About = "one's own queries at their own frequencies"
		w.phases = []phase{drawn(r.counts)}
	case timed:
		w.About = "one's own queries at their own times"
		w.times = r.times
		w.phases = []phase{inTurn(r.sequence, len(w.Queries))}
	default:
		w.About = "one's own queries in turn"
		w.phases = []phase{inTurn(r.sequence, len(w.Queries))}
	}
	return w
}
