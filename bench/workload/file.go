package workload

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// maxQueries bounds what is read of a file of queries.
const maxQueries = 5_000_000

// FromFile reads one's own queries, one a line; empty lines do not count. A
// line is the query alone, or the query, a tab and
//   - a number: how often it is asked, against the others, which are then drawn
//     at that skew;
//   - a time as in RFC 3339: when it was asked; lines are in that order.
//
// All lines are of the kind of the first. Queries alone are asked in turn.
func FromFile(name string, seed uint64) (*Workload, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("cannot read the queries: %w", err)
	}
	defer f.Close()
	r := &reader{m: &mixer{index: make(map[string]int32), w: &Workload{Name: name, seed: seed}}}
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan() && len(r.sequence) < maxQueries; n++ {
		if err := r.line(lines.Text()); err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", name, n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("cannot read the queries of %s: %w", name, err)
	}
	if len(r.sequence) == 0 {
		return nil, fmt.Errorf("%s holds no query", name)
	}
	w := r.workload()
	if p := w.phases[0]; p.sums[len(p.sums)-1] == 0 {
		return nil, fmt.Errorf("%s: every query is asked 0 times", name)
	}
	return w, nil
}

// kind is what stands behind the query.
type kind int

const (
	alone kind = iota
	counted
	timed
)

// reader takes a file's lines.
type reader struct {
	m        *mixer
	kind     kind
	sequence []int32
	counts   []float64 // by query
	first    time.Time
	times    []time.Duration
}

func (r *reader) line(line string) error {
	if strings.TrimSpace(line) == "" {
		return nil
	}
	text, rest, two := strings.Cut(line, "\t")
	is := alone
	count, notNumber := strconv.ParseFloat(rest, 64)
	at, notTime := time.Parse(time.RFC3339Nano, rest)
	switch {
	case two && notTime == nil:
		is = timed
	case two && notNumber == nil && count >= 0 && count < 1e18:
		is = counted
	case two:
		return fmt.Errorf("%q is neither a count nor a time such as 2026-01-31T12:00:00Z", rest)
	}
	if len(r.sequence) == 0 {
		r.kind, r.first = is, at
	} else if is != r.kind {
		return fmt.Errorf("what stands behind the query is of another kind than in the first line")
	}
	q := r.m.query(text)
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
