package indatabase

import (
	"context"
	"sync"
	"time"

	"adshard/fault"
	"adshard/internal/node/control"
	"adshard/internal/wait"
)

// term implements control.Term. The epoch fences what it saves.
type term struct {
	*control.Fence
	store *Store

	renewing sync.Mutex // held while the lease is being renewed
	own      lease      // as last renewed; guarded by renewing
	saved    []byte     // the lease as this term has last seen it; guarded by renewing

	mu    sync.Mutex
	until time.Time // when the lease ends by the monotonic clock; guarded by mu
}

// Valid implements control.Term.
func (t *term) Valid() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return time.Now().Before(t.until)
}

// KeepAlive implements control.Term.
func (t *term) KeepAlive(ctx context.Context, note func(error)) error {
	for {
		err := t.attempt(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		note(err)
		if fault.Is(err, fault.Conflict) || fault.Is(err, fault.Stale) {
			t.end()
			return err
		}
		pause := t.store.times.Renew
		if err != nil {
			pause = t.store.times.Poll
		}
		if err := wait.Sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// attempt renews the lease, and checks whether another balancer has raised the epoch without taking
// the lease, as a balancer does whose control state is elsewhere.
func (t *term) attempt(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, t.store.times.Lease)
	defer cancel()
	renewed, checked := t.renew(ctx), t.Check(ctx)
	if renewed == nil || fault.Is(checked, fault.Conflict) || fault.Is(checked, fault.Stale) {
		return checked
	}
	return renewed
}

// renew changes the lease. The renewal is valid from the start of the change: no candidate has seen
// the lease unchanged since before then.
func (t *term) renew(ctx context.Context) error {
	t.renewing.Lock()
	defer t.renewing.Unlock()
	began := time.Now()
	err := t.change(ctx, t.own)
	if fault.Is(err, fault.Conflict) {
		err = t.reacquire(ctx, err)
	}
	if err == nil {
		t.mu.Lock()
		t.until = began.Add(t.store.times.Validity())
		t.mu.Unlock()
	}
	return err
}

// change writes the lease with the next beat, if it is still as this term last saw it.
func (t *term) change(ctx context.Context, l lease) error {
	l.Beat = t.own.Beat + 1
	text := l.encode()
	if err := t.store.db.SaveControlIf(ctx, t.store.leaseKey(), text, t.store.leaseKey(), t.saved); err != nil {
		return err
	}
	t.own, t.saved = l, text
	return nil
}

// reacquire renews a lease that is not as this term left it, because the answer to a renewal was
// lost, the database was restored, or another candidate has claimed it.
func (t *term) reacquire(ctx context.Context, refused error) error {
	if err := t.Check(ctx); err != nil {
		return err
	}
	text, err := t.store.db.LoadControl(ctx, t.store.leaseKey())
	if err != nil {
		return err
	}
	now := decode(text)
	if now.Term != t.own.Term {
		return (&control.Replaced{Epoch: t.Epoch(), By: control.Leader{
			Candidate: control.Candidate{Address: now.Address, Admin: now.Admin}, Epoch: now.Epoch}}).Fault()
	}
	if string(text) == string(t.saved) {
		return refused
	}
	t.saved, t.own.Beat = text, max(t.own.Beat, now.Beat)
	return t.change(ctx, t.own)
}

// end ends the validity of the lease in this process.
func (t *term) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.until = time.Time{}
}

// Resign implements control.Term.
func (t *term) Resign(ctx context.Context) error {
	t.renewing.Lock()
	defer t.renewing.Unlock()
	t.end()
	l := t.own
	l.Resigned = true
	return t.change(ctx, l)
}
