package documents

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"adshard/schema/pb"
)

// waiting is a balancer that has nothing new, and waits as long as it may.
type waiting struct {
	*database
	err   error // of all calls, at once
	calls int
}

func (w *waiting) WatchDocuments(ctx context.Context, r *pb.WatchDocumentsRequest) (*pb.WatchDocumentsResponse, error) {
	w.calls++
	if w.err != nil {
		return nil, w.err
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(time.Duration(r.GetWaitMs()) * time.Millisecond):
		return w.database.WatchDocuments(ctx, r)
	}
}

// TestDoubt: after a doubt the balancer is asked at once, whatever call was waiting, and the follower is certain when it has taken the
// answer; a balancer that does not answer is waited for, but not for long.
func TestDoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &waiting{database: newDatabase()}
		k := &kept{texts: map[string]string{}}
		f := New("m", anyDatabase, w, k, slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		done := make(chan struct{})
		go func() { f.Run(ctx); close(done) }()
		defer func() { cancel(); <-done }()
		time.Sleep(watchWait / 2)
		synctest.Wait()
		if !f.Certain() || w.calls != 1 {
			t.Fatalf("certain: %v after %d calls without a doubt", f.Certain(), w.calls)
		}
		text := "new"
		w.save("a", &text) // the announcement was lost
		f.Doubt()
		began := time.Now()
		f.Settle(ctx)
		if !f.Certain() || k.texts["a"] != "new" || time.Since(began) > 0 {
			t.Fatalf("certain: %v, with %v, after %v", f.Certain(), k.texts, time.Since(began))
		}
		synctest.Wait()
		calls := w.calls
		time.Sleep(watchWait / 2)
		synctest.Wait()
		if w.calls != calls {
			t.Errorf("%d calls without a doubt", w.calls-calls)
		}

		w.err = errors.New("away")
		f.Doubt()
		short, end := context.WithTimeout(ctx, time.Second)
		defer end()
		f.Settle(short)
		if f.Certain() {
			t.Error("certain though the balancer does not answer")
		}
		began = time.Now()
		f.Settle(ctx)
		if took := time.Since(began); took < doubtful-2*time.Second || took > doubtful+2*time.Second {
			t.Errorf("certain %v later, though the balancer is away", took)
		}
	})
}

// TestDoubtsAreOfCallsThatBeganLater: a call that began before a doubt does not settle it, even if it succeeds.
func TestDoubtsAreOfCallsThatBeganLater(t *testing.T) {
	f := &Follower{}
	f.Doubt()
	settles, any := f.doubt.begin(func() {})
	if !any {
		t.Error("there is a doubt")
	}
	f.Doubt()
	f.doubt.settle(settles, nil)
	if f.Certain() {
		t.Error("a call has settled a doubt that was raised after it began")
	}
	settles, _ = f.doubt.begin(func() {})
	f.doubt.settle(settles, nil)
	if !f.Certain() {
		t.Error("the last call has not settled the doubts")
	}
}

// TestAStopIsNoTimeWithoutAnAnswer: a process that is stopped while it doubts has not waited for the balancer meanwhile.
func TestAStopIsNoTimeWithoutAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &Follower{}
		f.Doubt()
		time.Sleep(2 * doubtful)
		f.Doubt()
		settles, _ := f.doubt.begin(func() {})
		if f.doubt.settle(settles, errors.New("the connection was lost meanwhile")); f.Certain() {
			t.Error("certain, though the balancer was hardly asked")
		}
		time.Sleep(2 * doubtful)
		if f.doubt.settle(settles, errors.New("away")); !f.Certain() {
			t.Error("uncertain, though the balancer is away")
		}
	})
}

// TestStops: a stop is noticed before anything else is done, by either clock, and no other pause is one.
func TestStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := 0
		s := NewStops(func() { told++ })
		ctx, cancel := context.WithCancel(t.Context())
		go s.Run(ctx)
		time.Sleep(time.Minute)
		synctest.Wait()
		if s.Check(); told != 0 {
			t.Errorf("told %d times without a stop", told)
		}
		cancel()
		synctest.Wait()
		time.Sleep(stopped + 1) // nothing runs meanwhile
		if s.Check(); told != 1 {
			t.Errorf("told %d times of a stop", told)
		}
		now := time.Now()
		s.last.Store(&beat{now, now.Add(-2 * stopped)})
		if s.Check(); told != 2 {
			t.Errorf("told %d times of a stop and a sleep", told)
		}
	})
}

// TestAStopBetweenACheckAndItsBeat: such a stop is noticed, too.
func TestAStopBetweenACheckAndItsBeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := 0
		s := NewStops(func() {
			if told++; told == 1 {
				time.Sleep(2 * stopped)
			}
		})
		ctx, cancel := context.WithCancel(t.Context())
		go s.Run(ctx)
		synctest.Wait()
		s.keepOn(time.Now().Add(-2 * stopped))
		time.Sleep(time.Minute)
		cancel()
		synctest.Wait()
		if told != 2 {
			t.Errorf("told %d times of two stops", told)
		}
	})
}
