package stream

import (
	"sync"
	"time"

	"adshard/fault"
	"adshard/internal/node/wire"
)

// waiting is an ask that waits for a stream to be opened.
type waiting struct {
	client *Client
	ask    wire.Ask
	done   Done
	came   time.Time

	mu   sync.Mutex
	over bool    // it was given up; under mu
	sent Pending // nil if it has not been sent; under mu
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

// send sends the waiting asks over a stream that is up. Asks wait again if the stream breaks.
func (c *Client) send(s *session) {
	for w := range c.take(nil, nil) {
		w.send(s)
	}
}

// refuse fails the waiting asks, and all later ones until a stream is up or Reconnect is called.
// Reconnect closes `pause`, if it is not nil. Both are recorded before asks fail, since a caller
// may call Reconnect at once after that.
func (c *Client) refuse(why error, pause chan struct{}) {
	for w := range c.take(why, pause) {
		w.done(nil, why)
	}
}

// take removes and returns the waiting asks. It records the error with which further asks are
// refused, or nil if they should wait, and the pause that begins.
func (c *Client) take(why error, pause chan struct{}) map[*waiting]struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.waiting
	c.waiting, c.why, c.pause = make(map[*waiting]struct{}), why, pause
	return all
}

// downFor returns the error with which asks are refused after a stream could not be opened: the
// slave's own error, if the slave gave one.
func downFor(err error) error {
	switch fault.KindOf(err) {
	case fault.Unavailable, fault.Deadline, fault.Cancelled, fault.Overloaded:
		return fault.Newf(fault.Unavailable, searchOp, "there is no stream to the slave: %w", err)
	}
	return err
}
