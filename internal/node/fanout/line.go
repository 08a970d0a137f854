package fanout

import (
	"context"
	"sync"
	"time"

	"adshard/search"
)

// brief is how long the slaves of this process are asked one after the other, and
// patience which part of a query's time at most.
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
	brief time.Duration

	mu      sync.Mutex
	queue   []queued // under mu
	next    int      // those before it are begun; under mu
	running bool     // a goroutine takes from queue; under mu
	late    bool     // nobody waits any more; under mu
}

// queued is a search of a line.
type queued struct {
	ctx     context.Context
	slave   search.Searcher
	request *search.Request
	asker   asker
}

// asker is who has a slave asked (caller).
type asker interface {
	// begun notes that the slave is asked only now.
	begun()
	done(*search.Answer, error)
}

// newLine returns the line of a query that goes to n slaves or more.
func newLine(ctx context.Context, n int) *line {
	l := &line{brief: brief, queue: make([]queued, 0, n)}
	if deadline, ok := ctx.Deadline(); ok {
		l.brief = min(brief, time.Until(deadline)/patience)
	}
	return l
}

// ask is Slave.Ask for a slave that answers before it returns.
func (l *line) ask(ctx context.Context, s search.Searcher, r *search.Request, a asker) Pending {
	l.mu.Lock()
	defer l.mu.Unlock()
	q := queued{ctx, s, r, a}
	switch {
	case l.late:
		go l.search(q)
	case l.running:
		l.queue = append(l.queue, q)
	default:
		l.queue, l.running = append(l.queue, q), true
		go l.run()
	}
	return nil
}

func (l *line) search(q queued) {
	q.asker.begun()
	q.asker.done(q.slave.Search(q.ctx, q.request))
}

// run makes the searches that wait.
func (l *line) run() {
	timer := time.AfterFunc(l.brief, l.hurry)
	defer timer.Stop()
	for {
		q, ok := l.take()
		if !ok {
			return
		}
		l.search(q)
	}
}

// take takes the oldest search that waits.
func (l *line) take() (q queued, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.next == len(l.queue) {
		l.running = false
		return queued{}, false
	}
	l.next++
	return l.queue[l.next-1], true
}

// hurry gives each search that waits, and those that come, a goroutine of its own.
func (l *line) hurry() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, q := range l.queue[l.next:] {
		go l.search(q)
	}
	l.next, l.late = len(l.queue), true
}
