package fanout

import (
	"context"
	"sync"
	"time"

	"adshard/search"
)

// brief is how long the slaves of this process are asked one after the other. Most
// searches take some 10 µs; to have each wait for a goroutine and, behind those of other
// queries, for its turn at the slave, costs a third of that.
const brief = time.Millisecond

// line is the searches of one query at slaves of this process. One goroutine makes them,
// one after the other. When it has been at it for longer than brief, since a search waits for a
// disk, say, those that are left get a goroutine each: a slave that hangs holds up no
// other one for longer than that.
type line struct {
	request *search.Request

	mu      sync.Mutex
	queue   []queued // under mu
	next    int      // those before it are begun; under mu
	running bool     // a goroutine takes from queue; under mu
	late    bool     // nobody waits any more; under mu
}

// queued is a search of a line.
type queued struct {
	ctx   context.Context
	slave search.Searcher
	done  Done
}

// newLine returns the line of a query that goes to n slaves or more.
func newLine(r *search.Request, n int) *line {
	return &line{request: r, queue: make([]queued, 0, n)}
}

// ask is Slave.Ask for a slave that answers before it returns.
func (l *line) ask(ctx context.Context, s search.Searcher, done Done) Pending {
	l.mu.Lock()
	defer l.mu.Unlock()
	q := queued{ctx, s, done}
	switch {
	case l.late:
		go l.search(q)
	case l.running:
		l.queue = append(l.queue, q)
	default:
		l.queue, l.running = append(l.queue, q), true
		go l.run()
	}
	return byContext{}
}

func (l *line) search(q queued) { q.done(q.slave.Search(q.ctx, l.request)) }

// run makes the searches that wait.
func (l *line) run() {
	timer := time.AfterFunc(brief, l.hurry)
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
