package fanout

import (
	"context"
	"sync/atomic"
	"time"
)

// brief is for how long the slaves of this process are asked one after the other;
// but at most for one part in patience of a query's time.
const (
	brief    = time.Millisecond
	patience = 4
)

// line is the searches of one query at slaves of this process. One goroutine makes them,
// one after the other: most take some microseconds, so that to wake up a goroutine for each and
// have it wait for its turn at the slave would cost more than it gains. When they have taken
// longer than brief, since one of them waits for a disk, say, each that is left gets a
// goroutine: a slave that hangs holds up no other one for longer than that.
type line struct {
	begun    func(call int) // notes that a slave is asked only now
	searches []queued
	next     atomic.Int64 // those before it are begun
}

// queued is a search of a line.
type queued struct {
	call   int
	search func()
}

// run makes the searches, under the context of their query.
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

// take makes searches until none is left to begin.
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
