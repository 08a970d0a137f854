// Package health collects why a process cannot do its work: operations that it
// keeps trying without success, and a database that cannot be used. Readiness
// (/readyz of the admin port) shows them.
package health

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"adshard/backend"
	"adshard/fault"
	"adshard/internal/wait"
)

// Tracker holds the operations that a process retries without success. While there are any, the
// process is not ready.
type Tracker struct {
	mu    sync.Mutex
	list  map[Operation]failure // guarded by mu
	apart bool                  // the control state is not in the database
}

type failure struct {
	err   error
	since time.Time
}

// Operation is something that is retried.
type Operation struct {
	what string
	on   resource
}

// resource is what an operation needs.
type resource uint8

const (
	nothing  resource = iota
	database          // the backend database
	state             // the control state, which may be in the database
)

// The operations that are retried.
var (
	ReadChanges = Operation{"read the changes of the database", database}
	PrepareData = Operation{"prepare node data", database}
	RenewLease  = Operation{"renew the balancer's lease", state}
	ReadLeader  = Operation{"read which balancer leads", state}
	SaveModel   = Operation{"save the slice model", state}
	Follow      = Operation{"follow the balancer, which refuses this process", nothing}
)

// reason is why an operation fails, as far as two operations may share it.
type reason struct {
	on   resource
	kind fault.Kind
	of   string // the operation, if its reason is its own
}

// reasonOf returns the reason of a failure. Errors of these kinds say how a resource is, others what is wrong with the operation.
func (h *Tracker) reasonOf(op Operation, err error) reason {
	kind := fault.KindOf(err)
	if op.on == state && !h.apart {
		op.on = database
	}
	switch kind {
	case fault.Unavailable, fault.Deadline, fault.Locked, fault.NoSpace, fault.Version, fault.Corrupt:
		if op.on != nothing {
			return reason{on: op.on, kind: kind}
		}
	}
	return reason{kind: kind, of: op.what}
}

// New returns a tracker without failures.
func New() *Tracker { return &Tracker{list: make(map[Operation]failure)} }

// NewApart is New for a cluster whose control state is not in the database.
func NewApart() *Tracker { return &Tracker{list: make(map[Operation]failure), apart: true} }

// Record records the outcome of an operation; a nil err clears its failure.
func (h *Tracker) Record(op Operation, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err == nil {
		delete(h.list, op)
		return
	}
	a, known := h.list[op]
	if !known {
		a.since = time.Now()
	}
	a.err = err
	h.list[op] = a
}

// readyPoll is the time between two checks of a process that is not ready yet.
const readyPoll = 200 * time.Millisecond

// Announce prints a line as soon as `ready` gives no reason against it, unless ctx is done before.
func Announce(ctx context.Context, out io.Writer, line string, ready func() []string) {
	for len(ready()) > 0 {
		if wait.Sleep(ctx, readyPoll) != nil {
			return
		}
	}
	fmt.Fprintln(out, line)
}

// told is a failure with those that have the same reason.
type told struct {
	what string
	failure
	reason
}

// Failures describes the operations that are failing, the oldest failure first. Operations that fail for one reason are described
// together.
func (h *Tracker) Failures() (out []string) {
	for _, a := range h.failures() {
		out = append(out, fmt.Sprintf("cannot %s since %s: %v", a.what, a.since.UTC().Format(time.RFC3339), a.err))
	}
	return out
}

func (h *Tracker) failures() (out []told) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var all []told
	for op, a := range h.list {
		all = append(all, told{op.what, a, h.reasonOf(op, a.err)})
	}
	slices.SortFunc(all, func(a, b told) int { return cmp.Or(a.since.Compare(b.since), cmp.Compare(a.what, b.what)) })
	for _, a := range all {
		if i := slices.IndexFunc(out, func(b told) bool { return a.reason == b.reason }); i >= 0 {
			out[i].what += ", " + a.what
			continue
		}
		out = append(out, a)
	}
	return out
}

// With returns the failures, and why the database cannot be used unless a failure has said it.
func (h *Tracker) With(db backend.Store) []string {
	why := h.Failures()
	if err := Database(db); err != nil && !h.says(err) {
		why = append(why, err.Error())
	}
	return why
}

// says reports whether an operation fails for the reason for which the database cannot be used.
func (h *Tracker) says(err error) bool {
	because := h.reasonOf(Operation{on: database}, err)
	return slices.ContainsFunc(h.failures(), func(a told) bool { return a.reason == because })
}
