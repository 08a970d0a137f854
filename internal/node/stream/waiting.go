package stream

import (
	"sync"
	"time"

	"adshard/fault"
	"adshard/internal/node/wire"
)

// waiting is an ask that waits for a stream.
type waiting struct {
	client *Client
	ask    wire.Ask
	done   Done
	came   time.Time

	mu   sync.Mutex
	over bool    // it was given up; under mu
	sent Pending // nil: not yet; under mu
}

// GiveUp implements Pending.
func (w *waiting) GiveUp(why error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.sent != nil {
		w.sent.GiveUp(why)
		return
	}
	w.over = true
	w.client.mu.Lock()
	defer w.client.mu.Unlock()
	delete(w.client.waiting, w)
}

// send sends the ask on a stream, unless it is no longer awaited.
func (w *waiting) send(s *session) {
	w.mu.Lock()
	if w.over {
		w.mu.Unlock()
		return
	}
	w.ask.Left = max(0, w.ask.Left-time.Since(w.came))
	sent, err := s.ask(&w.ask, w.done)
	if err == nil {
		w.sent = sent
	}
	w.mu.Unlock()
	if err != nil {
		w.done(nil, err)
	}
}

// wait keeps an ask until the stream that is being opened is up.
func (c *Client) wait(a *wire.Ask, done Done) (Pending, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.now.Load(); s != nil { // up by now
		if asked, err := s.ask(a, done); err != errDown {
			return asked, err
		}
	}
	switch {
	case c.why != nil:
		return nil, c.why
	case len(c.waiting) >= Most:
		return nil, errMost
	}
	w := &waiting{client: c, ask: *a, done: done, came: time.Now()}
	c.waiting[w] = struct{}{}
	return w, nil
}

// send sends what waits on a stream that is up; asks wait again when it breaks.
func (c *Client) send(s *session) {
	for w := range c.take(nil, nil) {
		w.send(s)
	}
}

// refuse fails what waits and, until a stream is up or Reconnect is called, what comes.
// Reconnect closes pause, if it is not nil. An ask that fails may be followed by a Reconnect
// at once, so that both are known before.
func (c *Client) refuse(why error, pause chan struct{}) {
	for w := range c.take(why, pause) {
		w.done(nil, why)
	}
}

// take takes what is queued, and notes why further asks are refused, or nil if
// they wait, and the pause that begins.
func (c *Client) take(why error, pause chan struct{}) map[*waiting]struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.waiting
	c.waiting, c.why, c.pause = make(map[*waiting]struct{}), why, pause
	return all
}

// downFor returns the error with which asks are refused when a stream could not be opened:
// the slave's own, if it is there to give one.
func downFor(err error) error {
	switch fault.KindOf(err) {
	case fault.Unavailable, fault.Deadline, fault.Cancelled, fault.Overloaded:
		return fault.Newf(fault.Unavailable, searchOp, "there is no stream to the slave: %w", err)
	}
	return err
}
