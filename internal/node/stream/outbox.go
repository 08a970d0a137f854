package stream

import (
	"runtime"
	"slices"
	"sync"

	"adshard/fault"
	"adshard/internal/node/wire"
)

const (
	// frameBytes is the size at which a frame is full: it saves little to make them
	// larger, and the peer can begin earlier.
	frameBytes = 64 << 10
	// few is the number of searches under way up to which a caller sends its own
	// item: no other is likely to add one.
	few = 4
)

var errFull = fault.Newf(fault.Overloaded, "stream: send", "the peer does not read; too much waits to be sent")

// outbox queues what is to be sent on a pipe and sends what is queued as one frame.
// Make it with newOutbox; run must run.
type outbox struct {
	pipe Pipe
	most int           // bytes that may wait
	wake chan struct{} // full: run is to send

	mu      sync.Mutex
	frames  []wire.Frame // to be sent, each but the last full; under mu
	spare   wire.Frame   // to be filled next; under mu
	bytes   int          // in frames; under mu
	writing bool         // a goroutine sends, or run is about to; under mu
	closing bool         // the pipe is to be closed when all is sent; under mu
	err     error        // of the pipe; under mu
	idle    *sync.Cond   // with mu: nothing waits or is being written
}

func newOutbox(pipe Pipe, most int) *outbox {
	o := &outbox{pipe: pipe, most: most, wake: make(chan struct{}, 1)}
	o.idle = sync.NewCond(&o.mu)
	return o
}

// queue adds an item, which is copied; flush must follow. Errors: errFull, those of
// the pipe.
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

// waiting returns how many bytes wait.
func (o *outbox) waiting() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.bytes
}

// flush makes sure that what is queued is sent, unless another goroutine sends already: by the
// caller itself if direct, else by run.
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

// close ends what is sent, once all that waits is sent.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closing = true
	if !o.writing {
		o.writing = true
		o.passOn()
	}
}

// passOn leaves what waits to run. Called under mu, by the one that writes.
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

// run sends what is left to it, until done is closed.
func (o *outbox) run(done <-chan struct{}) {
	for {
		select {
		case <-done:
			return
		case <-o.wake:
		}
		runtime.Gosched() // those who are ready add to the queue first
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

// sendOne sends the first frame. Called under mu, which it releases meanwhile.
func (o *outbox) sendOne() {
	frame := o.frames[0]
	o.frames = slices.Delete(o.frames, 0, 1)
	o.bytes -= len(frame)
	o.unlocked(func() error { return o.pipe.Send(frame) })
	if cap(frame) <= 2*frameBytes {
		o.spare = frame
	}
}

// unlocked does something without the lock and notes its error.
func (o *outbox) unlocked(do func() error) {
	o.mu.Unlock()
	err := do()
	o.mu.Lock()
	if err != nil {
		o.fail(err)
	}
}

// fail drops what waits. Called under mu.
func (o *outbox) fail(err error) {
	if o.err == nil {
		o.err = err
	}
	o.frames, o.bytes = nil, 0
}

// end makes queue fail with err from now on.
func (o *outbox) end(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.fail(err)
	o.idle.Broadcast()
}

// drain waits until all is sent, or can be sent no more.
func (o *outbox) drain() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.err == nil && (o.writing || len(o.frames) > 0) {
		o.idle.Wait()
	}
}
