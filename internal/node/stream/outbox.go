package stream

import (
	"runtime"
	"slices"
	"sync"

	"adshard/fault"
	"adshard/internal/node/wire"
)

const (
	// frameBytes is the size at which a frame is full. Larger frames would save little, and the
	// peer could not begin as early.
	frameBytes = 64 << 10
	// few is the number of searches under way up to which a caller sends its own item, because
	// another item is not likely to follow.
	few = 4
)

var errFull = fault.Newf(fault.Overloaded, "stream: send", "the peer does not read; too much waits to be sent")

// outbox queues items for a pipe and sends all that are queued as one frame. Make it with
// newOutbox, and start run.
type outbox struct {
	pipe Pipe
	most int           // bytes that may be waiting
	wake chan struct{} // full if run must send

	mu      sync.Mutex
	frames  []wire.Frame // frames to be sent, all but the last one full; under mu
	spare   wire.Frame   // buffer for the next frame; under mu
	bytes   int          // in frames; under mu
	writing bool         // a goroutine is sending, or run is about to; under mu
	closing bool         // the pipe must be closed when all has been sent; under mu
	err     error        // of the pipe; under mu
	idle    *sync.Cond   // uses mu; signals that nothing waits or is being written
}

func newOutbox(pipe Pipe, most int) *outbox {
	o := &outbox{pipe: pipe, most: most, wake: make(chan struct{}, 1)}
	o.idle = sync.NewCond(&o.mu)
	return o
}

// queue adds a copy of an item; flush must follow. Errors: errFull, those of the pipe.
func (o *outbox) queue(item []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.err != nil:
		return o.err
	case o.bytes > 0 && o.bytes+len(item) > o.most:
		return errFull
	}
	if n := len(o.frames); n == 0 || len(o.frames[n-1])+len(item) > frameBytes {
		o.frames = append(o.frames, o.spare[:0])
		o.spare = nil
	}
	last := &o.frames[len(o.frames)-1]
	*last = append(*last, item...)
	o.bytes += len(item)
	return nil
}

// waiting returns the number of bytes that are waiting.
func (o *outbox) waiting() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.bytes
}

// flush makes sure that what is queued is sent: by the caller itself if `direct` is true, and
// otherwise by run. If another goroutine is sending already, that one sends it.
func (o *outbox) flush(direct bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.writing || len(o.frames) == 0 {
		return
	}
	o.writing = true
	if direct {
		o.sendOne()
	}
	o.passOn()
}

// close closes the sending side of the pipe once everything that waits has been sent.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closing = true
	if !o.writing {
		o.writing = true
		o.passOn()
	}
}

// passOn leaves what is waiting to run. The goroutine that is writing calls it, with mu held.
func (o *outbox) passOn() {
	if len(o.frames) == 0 && !o.closing {
		o.writing = false
		o.idle.Broadcast()
		return
	}
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// run sends what is left to it, until `done` is closed.
func (o *outbox) run(done <-chan struct{}) {
	for {
		select {
		case <-done:
			return
		case <-o.wake:
		}
		runtime.Gosched() // goroutines that are ready add to the queue first
		o.mu.Lock()
		for len(o.frames) > 0 {
			o.sendOne()
		}
		if o.closing && o.err == nil {
			o.unlocked(o.pipe.CloseSend)
		}
		o.closing = false
		o.passOn()
		o.mu.Unlock()
	}
}

// sendOne sends the first frame. The caller holds mu, which sendOne releases while it sends.
func (o *outbox) sendOne() {
	frame := o.frames[0]
	o.frames = slices.Delete(o.frames, 0, 1)
	o.bytes -= len(frame)
	o.unlocked(func() error { return o.pipe.Send(frame) })
	if cap(frame) <= 2*frameBytes {
		o.spare = frame
	}
}

// unlocked calls `do` without the lock, and records its error.
func (o *outbox) unlocked(do func() error) {
	o.mu.Unlock()
	err := do()
	o.mu.Lock()
	if err != nil {
		o.fail(err)
	}
}

// fail drops what is waiting, and records the error. The caller holds mu.
func (o *outbox) fail(err error) {
	if o.err == nil {
		o.err = err
	}
	o.frames, o.bytes = nil, 0
}

// end makes later calls of queue return err.
func (o *outbox) end(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.fail(err)
	o.idle.Broadcast()
}

// drain waits until everything has been sent, or nothing more can be sent.
func (o *outbox) drain() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.err == nil && (o.writing || len(o.frames) > 0) {
		o.idle.Wait()
	}
}
