package fanout

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"adshard/fault"
	"adshard/internal/node/fanout/choice"
	"adshard/internal/node/wire"
	"adshard/search"
)

// manual is a slave whose replies are given by the test.
type manual struct {
	Slave
	gaveUp []error
	atOnce error // the reply before Ask returns, or nil if there is none

	mu    sync.Mutex
	asked Done // the last one; guarded by mu
}

// done returns the function that replies to the last ask, or nil if there was none.
func (m *manual) done() Done {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.asked
}

func (m *manual) Ask(_ context.Context, _ *wire.Shared, done Done) Pending {
	m.mu.Lock()
	m.asked = done
	m.mu.Unlock()
	if m.atOnce != nil {
		done(nil, m.atOnce)
	}
	return m
}

func (m *manual) GiveUp(why error) { m.gaveUp = append(m.gaveUp, why) }

// counted is an observer that counts what happens to shards.
type counted struct {
	quick
	failed, answered, retried int
}

func (c *counted) Called(_, _ string, _ time.Duration, err error) {
	if err != nil {
		c.failed++
	} else {
		c.answered++
	}
}

func (c *counted) Retried() { c.retried++ }

// single returns a shard with one replica.
func single(name string, s Slave) Shard {
	return NewShard(name, search.Width{}, choice.NewShard(), NewReplica(name, s))
}

// silence makes a replica silent.
func silence(r *choice.Replica) {
	r.Asked(0, 1)
	for now := time.Second; !r.Silent(); now += tickEvery {
		r.Tick(now)
	}
}

func manuals() (a, b *manual, m *Map) {
	a, b = new(manual), new(manual)
	return a, b, &Map{Epoch: 1, View: 5, Shards: []Shard{single("a", a), single("b", b)}}
}

// TestGivenUp: a shard that has not replied by the deadline, or before the caller leaves, is given
// up once. A later reply is ignored.
func TestGivenUp(t *testing.T) {
	for why, end := range map[error]func(cancel func()){
		context.DeadlineExceeded: func(func()) { time.Sleep(time.Hour) },
		context.Canceled:         func(cancel func()) { cancel() },
	} {
		synctest.Test(t, func(t *testing.T) {
			a, b, m := manuals()
			var seen counted
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			go func() { synctest.Wait(); a.done()(&search.Answer{}, nil); end(cancel) }()
			_, err := New(&listedMaps{list: []*Map{m}}, &seen).Search(ctx, &search.Request{Slots: 1})
			if fault.Is(err, fault.Cancelled) != (why == context.Canceled) {
				t.Errorf("%v: %v", why, err)
			}
			b.done()(&search.Answer{}, nil)
			if len(a.gaveUp) != 0 || len(b.gaveUp) != 1 || !errors.Is(b.gaveUp[0], why) {
				t.Errorf("%v: a was told %v, b %v", why, a.gaveUp, b.gaveUp)
			}
			if seen.answered != 1 || seen.failed != 1 {
				t.Errorf("%v: %+v", why, seen)
			}
			time.Sleep(time.Hour) // until `end` returns
		})
	}
}

// TestRepliesAtOnce: slaves may reply before Ask returns. The last reply may say that the view is
// no longer served.
func TestRepliesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b, m := manuals()
		a.atOnce, b.atOnce = fault.Newf(fault.Unavailable, "", "gone"), stale
		var seen counted
		answer, err := ask(t, New(&listedMaps{list: []*Map{m}}, &seen), time.Second)
		if err != nil || len(answer.Missing) != 2 || seen.failed != 2 || seen.retried != 1 || len(a.gaveUp)+len(b.gaveUp) != 0 {
			t.Errorf("%+v, %v; %+v", answer, err, seen)
		}
	})
}

// TestAllLeftOut: if all replicas are left out, none is asked and no search waits.
func TestAllLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, _, m := manuals()
		for i := range m.Shards {
			silence(m.Shards[i].Replicas[0].Known)
		}
		began := time.Now()
		answer, err := ask(t, New(&listedMaps{list: []*Map{m}}, nil), time.Second)
		if err != nil || len(answer.Missing) != 2 || time.Since(began) != 0 {
			t.Errorf("%+v, %v after %v", answer, err, time.Since(began))
		}
	})
}

// TestANewerMapEndsTheRound: when a newer map is asked, calls in progress for the previous map are
// given up and their replies are ignored.
func TestANewerMapEndsTheRound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b, old := manuals()
		a.atOnce = stale
		c, d, now := manuals()
		now.View = 6
		go func() {
			time.Sleep(time.Millisecond)
			synctest.Wait()
			b.done()(&search.Answer{Width: search.WholeRing()}, nil)
			c.done()(&search.Answer{Width: search.Width{Lo: eighth}}, nil)
			d.done()(nil, stale)
		}()
		answer, err := ask(t, New(&listedMaps{list: []*Map{old, now}}, nil), time.Second)
		if err != nil || answer.View != 6 || answer.Width != (search.Width{Lo: eighth}) || len(b.gaveUp) != 1 || len(a.gaveUp) != 0 {
			t.Errorf("%+v, %v; a was told %v, b %v", answer, err, a.gaveUp, b.gaveUp)
		}
	})
}
