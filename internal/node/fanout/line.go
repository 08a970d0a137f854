package fanout

import (
	"context"
	"sync/atomic"
	"time"
)

// The slaves of this process are asked one after the other for at most the time `brief`, and for at
// most one part in `patience` of a query's time.
const (
	brief    = time.Millisecond
	patience = 4
)

// line holds the searches of one query at slaves of this process. One goroutine makes them, one
// after the other: most take some microseconds, so waking up a goroutine for each, and having it
// wait for its turn at the slave, would cost more than it gains. If they take longer than brief,
// for example because one waits for a disk, each remaining search gets a goroutine: a slave that
// hangs delays the others for no longer than that.
type line struct {
	begun    func(call int) // says that a slave is asked only now
	searches []queued
	next     atomic.Int64 // the index of the next search to begin
}

// queued is a search of a line.
type queued struct {
	call   int
	search func()
}

// run makes the searches. ctx is the context of their query.
func (l *line) run(ctx context.Context) {
	wait := brief
	if deadline, ok := ctx.Deadline(); ok {
		wait = min(wait, time.Until(deadline)/patience)
	}
	hurry := time.AfterFunc(wait, func() {
		for range len(l.searches) - int(l.next.Load()) {
			go l.take()
		}
	})
	defer hurry.Stop()
	l.take()
}

// take makes searches until there are none left to begin.
func (l *line) take() {
	for {
		i := int(l.next.Add(1)) - 1
		if i >= len(l.searches) {
			return
		}
		l.begun(l.searches[i].call)
		l.searches[i].search()
	}
}
