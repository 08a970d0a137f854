package storetest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"adshard/counters/store"
	"adshard/fault"
)

// call is an input of the model: a batch; or a Get of a key; or a List of all keys, if
// the key is "".
type call struct {
	batch []store.Change
	key   string
}

// answer is the result of a call. Versions are replaced by the numbers of the batches
// that wrote them.
type answer struct {
	version  uint64
	conflict bool
	items    map[string]uint64 // versions by key
}

// linearizable runs several goroutines that call the store on a few keys, and checks
// that the history is linearizable.
func linearizable(t *testing.T, a, b store.Store) {
	const clients, calls = 4, 40
	var mu sync.Mutex
	var history []porcupine.Operation
	begin := time.Now()
	var all sync.WaitGroup
	for client := range clients {
		s := []store.Store{a, b}[client%2]
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(client), 7))
			known := map[string]uint64{"h/a": 0, "h/b": 0, "h/c": 0}
			for range calls {
				in := randomCall(r, known)
				from := time.Since(begin)
				out, err := made(t, s, in)
				to := time.Since(begin)
				if err != nil {
					t.Error(err)
					return
				}
				maps.Copy(known, out.items)
				mu.Lock()
				history = append(history, porcupine.Operation{ClientId: client, Input: in, Output: out, Call: int64(from), Return: int64(to)})
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if result := porcupine.CheckOperationsTimeout(model(), history, time.Minute); result != porcupine.Ok {
		t.Errorf("the history of %d calls is not linearizable: %s", len(history), result)
	}
}

// randomCall returns a random call of a client, with the versions that the client
// knows.
func randomCall(r *rand.Rand, known map[string]uint64) call {
	keys := []string{"h/a", "h/b", "h/c"}
	switch r.IntN(4) {
	case 0:
		return call{key: keys[r.IntN(len(keys))]}
	case 1:
		return call{}
	}
	r.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	var c call
	for _, key := range keys[:1+r.IntN(2)] {
		ch := store.Change{Action: store.Action(r.IntN(3)), Key: key, Version: known[key]}
		if ch.Version == 0 {
			ch.Action = store.Put
		}
		c.batch = append(c.batch, ch)
	}
	return c
}

func made(t *testing.T, s store.Store, c call) (out answer, err error) {
	out.items = make(map[string]uint64)
	switch {
	case c.batch != nil:
		out.version, err = s.Apply(t.Context(), c.batch...)
		if fault.Is(err, fault.Conflict) {
			return answer{conflict: true}, nil
		}
	case c.key != "":
		var it store.Item
		it, err = s.Get(t.Context(), c.key)
		out.items[c.key] = it.Version
	default:
		var items []store.Item
		items, err = s.List(t.Context(), "h/", 0)
		for _, key := range []string{"h/a", "h/b", "h/c"} {
			out.items[key] = 0
		}
		for _, it := range items {
			out.items[it.Key] = it.Version
		}
	}
	return out, err
}

// model returns the contract of the store as a porcupine model. Its state has the
// version of each key.
func model() porcupine.Model {
	type state = map[string]uint64
	return porcupine.Model{
		Init:  func() any { return state{} },
		Equal: func(a, b any) bool { return fmt.Sprint(a) == fmt.Sprint(b) }, // fmt prints maps in the order of their keys
		Step: func(s, in, out any) (bool, any) {
			now, c, a := s.(state), in.(call), out.(answer)
			for key, version := range a.items {
				if now[key] != version {
					return false, now
				}
			}
			if c.batch == nil {
				return true, now
			}
			for _, ch := range c.batch {
				if now[ch.Key] != ch.Version {
					return a.conflict, now
				}
			}
			return !a.conflict, after(now, c.batch, a.version)
		},
	}
}

func after(now map[string]uint64, batch []store.Change, version uint64) map[string]uint64 {
	next := maps.Clone(now)
	for _, c := range batch {
		switch c.Action {
		case store.Put:
			next[c.Key] = version
		case store.Delete:
			delete(next, c.Key)
		}
	}
	return next
}
