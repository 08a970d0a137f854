// Package health collects why a process cannot do its work: operations that it
// keeps trying without success, and a database that cannot be used. Readiness
// (/readyz of the admin port) shows them.
package health

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"adshard/backend"
)

// Tracker holds the operations that a process retries without success. While there are any, the
// process is not ready.
type Tracker struct {
	mu   sync.Mutex
	list map[string]failure // by operation; guarded by mu
}

type failure struct {
	err   error
	since time.Time
}

// The operations that are retried.
const (
	ReadChanges = "read the changes of the database"
	PrepareData = "prepare node data"
	RenewLease  = "renew the balancer's lease"
	ReadLeader  = "read which balancer leads"
	SaveModel   = "save the slice model"
	Follow      = "follow the balancer, which refuses this process"
)

// New returns a tracker without failures.
func New() *Tracker { return &Tracker{list: make(map[string]failure)} }

// Record records the outcome of an operation; a nil err clears its failure.
func (h *Tracker) Record(what string, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err == nil {
		delete(h.list, what)
		return
	}
	a, known := h.list[what]
	if !known {
		a.since = time.Now()
	}
	a.err = err
	h.list[what] = a
}

// Failures describes the operations that are failing, the oldest failure first. Operations that fail for one reason are described
// together.
func (h *Tracker) Failures() (out []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	type named struct {
		what string
		failure
	}
	var all []named
	for what, a := range h.list {
		all = append(all, named{what, a})
	}
	slices.SortFunc(all, func(a, b named) int { return cmp.Or(a.since.Compare(b.since), cmp.Compare(a.what, b.what)) })
	for i, a := range all {
		same := func(b named) bool { return b.err.Error() == a.err.Error() }
		if slices.ContainsFunc(all[:i], same) {
			continue
		}
		what := a.what
		for _, b := range all[i+1:] {
			if same(b) {
				what += ", " + b.what
			}
		}
		out = append(out, fmt.Sprintf("cannot %s since %s: %v", what, a.since.UTC().Format(time.RFC3339), a.err))
	}
	return out
}

// With returns the failures, and why the database cannot be used unless a failure has said it.
func (h *Tracker) With(db backend.Store) []string {
	why := h.Failures()
	for _, text := range Database(db) {
		if !h.says(text) {
			why = append(why, text)
		}
	}
	return why
}

func (h *Tracker) says(text string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, a := range h.list {
		if a.err.Error() == text {
			return true
		}
	}
	return false
}
