package node

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"
)

// health holds the operations that a process keeps trying without success. A process
// with any of them is not ready.
type health struct {
	mu   sync.Mutex
	list map[string]ailment // by what is tried; guarded by mu
}

type ailment struct {
	err   error
	since time.Time
}

// Things that are tried again and again.
const (
	readingChanges = "read the changes of the database"
	readingItems   = "prepare node data"
	readingEpoch   = "read the balancer's epoch in the database"
	savingModel    = "save the slice model"
)

func newHealth() *health { return &health{list: make(map[string]ailment)} }

// note records the outcome of a try.
func (h *health) note(what string, err error) {
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

// why returns what fails, the oldest first; none: all is well.
func (h *health) why() (out []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	type named struct {
		what string
		ailment
	}
	var all []named
	for what, a := range h.list {
		all = append(all, named{what, a})
	}
	slices.SortFunc(all, func(a, b named) int { return cmp.Or(a.since.Compare(b.since), cmp.Compare(a.what, b.what)) })
	for _, a := range all {
		out = append(out, fmt.Sprintf("cannot %s since %s: %v", a.what, a.since.UTC().Format(time.RFC3339), a.err))
	}
	return out
}
