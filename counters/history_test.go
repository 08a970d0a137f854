package counters_test

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"adshard/counters"
	"adshard/counters/store"
)

// operation is a call for a counter: an update by a number, a Set, or a read.
type operation struct {
	set, read bool
	number    int64
}

// oneValue returns a model of a counter as a single value under a lock.
func oneValue() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return int64(0) },
		Step: func(state, in, out any) (bool, any) {
			now, op := state.(int64), in.(operation)
			switch {
			case op.read:
				return out.(int64) == now, now
			case op.set:
				return true, op.number
			}
			return true, now + op.number
		},
	}
}

// TestLinearizable tests, in each mode and on each store, that histories of updates,
// sets and reads by several clients are those of a single value, while the counter is
// resized and compacted.
func TestLinearizable(t *testing.T) {
	onEach(t, func(t *testing.T, s store.Store) {
		for name, m := range modes {
			t.Run(name, func(t *testing.T) { linearizable(t, s, m, name) })
		}
	})
}

func linearizable(t *testing.T, s store.Store, m counters.Mode, counter string) {
	const clients, calls = 5, 20
	var mu sync.Mutex
	var history []porcupine.Operation
	begin := time.Now()
	stop := make(chan struct{})
	var others, all sync.WaitGroup
	others.Go(func() { disturb(t, s, m, counter, stop) })
	for client := range clients {
		f := sums(t, s, m, counters.Options{}) // as in another process
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(client), 3))
			for range calls {
				op := operation{read: r.IntN(3) == 0, set: r.IntN(6) == 0, number: int64(r.IntN(1000))}
				from := time.Since(begin)
				out, err := operate(t, f, op, counter)
				to := time.Since(begin)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				history = append(history, porcupine.Operation{ClientId: client, Input: op, Output: out, Call: int64(from), Return: int64(to)})
				mu.Unlock()
			}
		})
	}
	all.Wait()
	close(stop)
	others.Wait()
	if result := porcupine.CheckOperationsTimeout(oneValue(), history, time.Minute); result != porcupine.Ok {
		t.Errorf("the history of %d calls is not that of one value: %s", len(history), result)
	}
}

func operate(t *testing.T, f *counters.Family[int64], op operation, counter string) (int64, error) {
	switch {
	case op.read:
		return f.Value(t.Context(), counter)
	case op.set:
		return 0, f.Set(t.Context(), counter, op.number)
	}
	return 0, f.Update(t.Context(), counter, plus(op.number))
}

// disturb resizes and compacts a counter again and again.
func disturb(t *testing.T, s store.Store, m counters.Mode, counter string, stop chan struct{}) {
	f := sums(t, s, m, counters.Options{})
	for i := 0; ; i++ {
		select {
		case <-stop:
			return
		case <-time.After(time.Duration(rand.IntN(3)) * time.Millisecond):
		}
		err := f.Resize(t.Context(), counter, 1+i%5)
		if err == nil {
			_, err = f.Compact(t.Context(), counter)
		}
		if err != nil {
			t.Error(err)
			return
		}
	}
}
