package faults

import (
	"slices"
	"sync"
	"time"
)

// outcome is the result of a schedule: a line of the file of all seeds.
type outcome struct {
	Seed   uint64
	Commit string `json:",omitempty"`
	// Outcome is the result of judge.
	Outcome  string
	Database string
	TLS      bool    `json:",omitempty"`
	Etcd     bool    `json:",omitempty"`
	Strategy string  // the first one
	Order    string  // of groups on the ring
	Length   float64 // seconds
	Steps    []*stepOutcome
	// Calm counts the answers while no fault was under way and everything was whole.
	Calm tally
	// Changes counts acknowledged changes, and FailedChanges failed ones.
	Changes, FailedChanges int
	// Whole is how long it took until everything was whole after the last fault, in seconds.
	Whole float64
	// Late is why it was not whole 30 seconds after the last fault.
	Late string `json:",omitempty"`
	// By counts what was done by hand, and what ended by itself.
	By map[string]int `json:",omitempty"`
	// Moved is the number of ad groups that moved to another slave.
	Moved uint64
	// The largest memory, in MiB, number of open files and size of directories, in MiB, of a part.
	Memory, Files, Disk map[string]int
	Wrong               []string `json:",omitempty"`
}

// outcome returns the outcome of a schedule that has not begun.
func (s *schedule) outcome() outcome {
	return outcome{Seed: s.seed, Database: s.database, TLS: s.tls, Etcd: s.etcd, Strategy: s.strategy, Order: s.order, Length: s.length.Seconds()}
}

// judge returns how a schedule ended: not as promised, later than it should, or well.
func (o *outcome) judge() string {
	switch {
	case len(o.Wrong) > 0:
		return "failed"
	case o.late():
		return "late"
	}
	return "passed"
}

// late reports whether the cluster was whole later than it should be. Some faults are over only when everything is
// whole, so that no wait was needed after them.
func (o *outcome) late() bool { return o.Late != "" || o.Whole > inTime.Seconds() }

// stepOutcome is the result of one fault.
type stepOutcome struct {
	Kind, Text string
	// Missing is what the machine lacks for the fault, which was therefore left out.
	Missing string `json:",omitempty"`
	// Repeated names the parts, "do" or "undo", that were refused at first. The command was repeated when everything
	// was whole.
	Repeated []string `json:",omitempty"`
	// At, Undone and Whole are seconds from the beginning.
	At, Undone, Whole float64
	tally

	// Times at which undoing began, at which it was done, and at which everything was whole; zero before that.
	began, undone, over, whole time.Time
}

// tally counts answers.
type tally struct {
	Complete, Incomplete, Refused, Failed, Wrong int
	// Why counts the reasons for which shards were missing.
	Why map[string]int `json:",omitempty"`
}

func (t *tally) add(o tally) {
	t.Complete, t.Incomplete, t.Refused = t.Complete+o.Complete, t.Incomplete+o.Incomplete, t.Refused+o.Refused
	t.Failed, t.Wrong = t.Failed+o.Failed, t.Wrong+o.Wrong
}

// lacks counts an incomplete answer.
func (t *tally) lacks(reasons map[string]string) {
	t.Incomplete++
	for _, why := range reasons {
		if t.Why == nil {
			t.Why = make(map[string]int)
		}
		t.Why[why]++
	}
}

// record collects an outcome.
type record struct {
	mu  sync.Mutex
	out outcome // under mu, until the schedule has ended
}

// begin begins a fault.
func (r *record) begin(s step) *stepOutcome {
	r.mu.Lock()
	defer r.mu.Unlock()
	o := &stepOutcome{Kind: s.kind.name, Text: s.fault.String(), began: time.Now()}
	r.out.Steps = append(r.out.Steps, o)
	return o
}

// leaveOut notes that a fault was not played.
func (r *record) leaveOut(s step, missing string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.out.Steps = append(r.out.Steps, &stepOutcome{Kind: s.kind.name, Text: s.fault.String(), Missing: missing})
}

// repeats notes that a command of a fault is repeated later.
func (r *record) repeats(o *stepOutcome, what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	o.Repeated = append(o.Repeated, what)
}

// note sets a time of a fault to now.
func (r *record) note(at *time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	*at = time.Now()
}

// whole notes that everything has been whole since a time.
func (r *record) whole(at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, o := range r.out.Steps {
		if o.whole.IsZero() && !o.over.IsZero() && o.over.Before(at) {
			o.whole = time.Now()
		}
	}
}

// count counts an answer to a query that was sent at a time.
func (r *record) count(asked time.Time, in func(*tally)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	calm := true
	for _, o := range r.out.Steps {
		if o.Missing == "" && (o.whole.IsZero() || o.whole.After(asked)) {
			in(&o.tally)
			calm = false
		}
	}
	if calm {
		in(&r.out.Calm)
	}
}

// wrong notes a wrong answer.
func (r *record) wrong(asked time.Time, what string) {
	r.count(asked, func(t *tally) { t.Wrong++ })
	r.fail(time.Now().Format("04:05.000 ") + what)
}

// fail notes an error.
func (r *record) fail(what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.out.Wrong) < 20 {
		r.out.Wrong = append(r.out.Wrong, what)
	}
}

// end returns the outcome.
func (r *record) end(began time.Time) outcome {
	r.mu.Lock()
	defer r.mu.Unlock()
	seconds := func(t time.Time) float64 {
		if t.IsZero() {
			return 0
		}
		return t.Sub(began).Round(10 * time.Millisecond).Seconds()
	}
	undone := 0.0 // time of the last undoing
	for _, o := range r.out.Steps {
		o.At, o.Undone, o.Whole = seconds(o.began), seconds(o.undone), seconds(o.whole)
		if o.Undone > undone {
			undone, r.out.Whole = o.Undone, o.Whole-o.Undone
		}
	}
	slices.SortStableFunc(r.out.Steps, func(a, b *stepOutcome) int { return a.began.Compare(b.began) })
	return r.out
}
