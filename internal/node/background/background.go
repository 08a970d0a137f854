// Package background runs work that has no deadline on threads of its own, which get a
// processor after those that answer searches. Where several processes share processors, only
// the operating system knows what the searches of all of them need.
//
// Work that holds a lock for which searches wait does not belong here.
package background

import (
	"fmt"
	"runtime/debug"
	"sync"
)

// Threads are threads for bulk work, made as they are needed. The zero value is ready;
// they are for concurrent use.
type Threads struct {
	mu     sync.Mutex
	idle   []*thread // under mu
	closed bool      // under mu
}

// kept is how many threads are kept while they have nothing to do.
const kept = 4

// thread is a goroutine with a thread of its own, which ends with it: once lowered, its
// priority cannot be raised again.
type thread struct {
	work chan func()
	done chan any // what the work panicked with, or nil
}

// Do runs work on one of the threads and returns when it is done. If it panics, so does
// Do, with a text that has the stack.
func (t *Threads) Do(work func()) {
	w := t.acquire()
	w.work <- work
	cause := <-w.done
	t.release(w)
	if cause != nil {
		panic(cause)
	}
}

// acquire returns an idle thread.
func (t *Threads) acquire() *thread {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := len(t.idle); n > 0 {
		w := t.idle[n-1]
		t.idle = t.idle[:n-1]
		return w
	}
	w := &thread{work: make(chan func()), done: make(chan any)}
	go w.run()
	return w
}

// release keeps a thread that is idle again, or ends it.
func (t *Threads) release(w *thread) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed || len(t.idle) == kept {
		close(w.work)
		return
	}
	t.idle = append(t.idle, w)
}

// Close ends the threads; busy ones end when their work is done.
func (t *Threads) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	for _, w := range t.idle {
		close(w.work)
	}
	t.idle = nil
}

func (w *thread) run() {
	Lower()
	for work := range w.work {
		w.done <- causeOf(work)
	}
}

// causeOf runs work, and returns what it panicked with.
func causeOf(work func()) (cause any) {
	defer func() {
		if cause = recover(); cause != nil {
			cause = fmt.Sprintf("%v\n%s", cause, debug.Stack())
		}
	}()
	work()
	return nil
}
