// Package background runs work that has no deadline on threads of its own, which get a processor
// only after the threads that answer searches. If several processes share the processors, only the
// operating system knows what the searches of all of them need.
//
// Do not run work here that holds a lock for which searches wait.
package background

import (
	"fmt"
	"runtime/debug"
	"sync"
)

// Threads is a set of threads for bulk work, made as they are needed. The zero value is ready to
// use; all methods are safe for concurrent use.
type Threads struct {
	mu     sync.Mutex
	idle   []*thread // under mu
	closed bool      // under mu
}

// kept is the number of idle threads that are kept.
const kept = 4

// thread is a goroutine on a thread of its own, which ends with the goroutine: a priority that has
// been lowered cannot be raised again.
type thread struct {
	work chan func()
	done chan any // what the work panicked with, or nil
}

// Do runs `work` on one of the threads and returns when it is done. If `work` panics, Do panics
// with the cause and the stack as text.
func (t *Threads) Do(work func()) {
	w := t.acquire()
	w.work <- work
	cause := <-w.done
	t.release(w)
	if cause != nil {
		panic(cause)
	}
}

// acquire returns an idle thread, or a new one if there is none.
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

// release keeps a thread that has become idle, or ends it.
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

// causeOf runs `work` and returns what it panicked with as text, or nil.
func causeOf(work func()) (cause any) {
	defer func() {
		if cause = recover(); cause != nil {
			cause = fmt.Sprintf("%v\n%s", cause, debug.Stack())
		}
	}()
	work()
	return nil
}
