// Package storetest is the conformance suite for implementations of package store. It tests each
// clause of the contract, compares random calls with the store in memory, and checks histories of
// concurrent calls for linearizability.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"adshard/counters/store"
	"adshard/counters/store/memory"
	"adshard/fault"
)

// Run runs the suite. opened must return an empty store that it closes after the test, and a second
// handle on the same store, such as another process would have, or the same handle if there is no
// other.
func Run(t *testing.T, opened func(testing.TB) (a, b store.Store)) {
	for name, clause := range map[string]func(*testing.T, store.Store, store.Store){
		"Put": put, "Delete": remove, "Check": check, "Atomic": atomic, "Versions": versions, "List": list, "Bytes": bytesOfKeys,
		"Refused": refused, "Cancelled": cancelled, "CheckHolds": checkHolds, "Sum": sum, "Linearizable": linearizable,
	} {
		t.Run(name, func(t *testing.T) {
			a, b := opened(t)
			clause(t, a, b)
		})
	}
	t.Run("AsInMemory", func(t *testing.T) {
		a, b := opened(t)
		round := 0
		rapid.Check(t, func(t *rapid.T) {
			round++
			asInMemory(t, a, b, fmt.Sprintf("%d/", round))
		})
	})
}

func apply(t testing.TB, s store.Store, changes ...store.Change) uint64 {
	t.Helper()
	version, err := s.Apply(t.Context(), changes...)
	if err != nil || version == 0 {
		t.Fatalf("apply %v: version %d, %v", changes, version, err)
	}
	return version
}

func conflicts(t testing.TB, s store.Store, changes ...store.Change) {
	t.Helper()
	if _, err := s.Apply(t.Context(), changes...); !fault.Is(err, fault.Conflict) {
		t.Fatalf("apply %v: %v, want a conflict", changes, err)
	}
}

func has(t testing.TB, s store.Store, want ...store.Item) {
	t.Helper()
	for _, w := range want {
		if got, err := s.Get(t.Context(), w.Key); err != nil || !same(got, w) {
			t.Fatalf("get %q: %v, %v, want %v", w.Key, got, err, w)
		}
	}
}

// same reports whether two items are equal; nil and an empty value are the same.
func same(a, b store.Item) bool {
	return a.Key == b.Key && string(a.Value) == string(b.Value) && a.Version == b.Version
}

func putOf(key string, version uint64, value string) store.Change {
	return store.Change{Key: key, Version: version, Value: []byte(value)}
}

func deleteOf(key string, version uint64) store.Change {
	return store.Change{Action: store.Delete, Key: key, Version: version}
}

func checkOf(key string, version uint64) store.Change {
	return store.Change{Action: store.Check, Key: key, Version: version}
}

// put tests that a put succeeds only with the right version, and that the other handle sees it at
// once.
func put(t *testing.T, a, b store.Store) {
	has(t, b, store.Item{Key: "k"})
	conflicts(t, a, putOf("k", 5, "x"))
	one := apply(t, a, putOf("k", 0, "x"))
	has(t, b, store.Item{Key: "k", Value: []byte("x"), Version: one})
	conflicts(t, b, putOf("k", 0, "y"))
	conflicts(t, b, putOf("k", one+1, "y"))
	two := apply(t, b, putOf("k", one, "y"))
	has(t, a, store.Item{Key: "k", Value: []byte("y"), Version: two})
	three := apply(t, a, putOf("k", two, ""))
	has(t, b, store.Item{Key: "k", Version: three})
}

// remove tests that a delete succeeds only with the right version.
func remove(t *testing.T, a, b store.Store) {
	conflicts(t, a, deleteOf("k", 1))
	v := apply(t, a, putOf("k", 0, "x"))
	conflicts(t, b, deleteOf("k", v+1))
	apply(t, b, deleteOf("k", v))
	has(t, a, store.Item{Key: "k"})
	conflicts(t, a, putOf("k", v, "y"))
}

// check tests that a check succeeds only with the right version, and changes nothing.
func check(t *testing.T, a, b store.Store) {
	v := apply(t, a, putOf("k", 0, "x"))
	conflicts(t, b, checkOf("k", v+1), putOf("l", 0, "x"))
	conflicts(t, b, checkOf("none", 1), putOf("l", 0, "x"))
	l := apply(t, b, checkOf("k", v), putOf("l", 0, "x"))
	has(t, a, store.Item{Key: "k", Value: []byte("x"), Version: v}, store.Item{Key: "l", Value: []byte("x"), Version: l})
}

// atomic tests that a batch with one conflicting change changes nothing, wherever that change is.
func atomic(t *testing.T, a, b store.Store) {
	v := apply(t, a, putOf("b", 0, "x"), putOf("c", 0, "x"))
	good := []store.Change{putOf("a", 0, "new"), deleteOf("b", v), putOf("c", v, "new"), putOf("e", 0, "new")}
	for _, bad := range []store.Change{putOf("d", 3, "x"), deleteOf("d", 3), checkOf("d", 3)} {
		for at := range len(good) + 1 {
			conflicts(t, a, append(append(append([]store.Change(nil), good[:at]...), bad), good[at:]...)...)
			has(t, b, store.Item{Key: "a"}, store.Item{Key: "b", Value: []byte("x"), Version: v},
				store.Item{Key: "c", Value: []byte("x"), Version: v}, store.Item{Key: "e"})
		}
	}
	w := apply(t, a, good...)
	has(t, b, store.Item{Key: "a", Value: []byte("new"), Version: w}, store.Item{Key: "b"}, store.Item{Key: "c", Value: []byte("new"), Version: w})
}

// versions tests that a version is never used twice, not even if the key is deleted in between.
func versions(t *testing.T, a, b store.Store) {
	seen := map[uint64]bool{}
	for range 20 {
		v := apply(t, a, putOf("k", 0, "same"))
		if seen[v] {
			t.Fatalf("version %d twice", v)
		}
		seen[v] = true
		apply(t, b, deleteOf("k", v))
	}
}

// list tests that List returns the keys with a prefix, in order, and no others.
func list(t *testing.T, a, b store.Store) {
	for _, key := range []string{"p", "p/2", "p/1", "p/10", "o/1", "q", "p0"} {
		apply(t, a, putOf(key, 0, key))
	}
	for _, c := range []struct {
		prefix string
		limit  int
		want   string
	}{{"p/", 0, "p/1 p/10 p/2"}, {"p/", 2, "p/1 p/10"}, {"p", 0, "p p/1 p/10 p/2 p0"}, {"none", 0, ""}, {"", 3, "o/1 p p/1"}} {
		items, err := b.List(t.Context(), c.prefix, c.limit)
		if err != nil {
			t.Fatal(err)
		}
		var keys []string
		for _, it := range items {
			if string(it.Value) != it.Key || it.Version == 0 {
				t.Errorf("item %v", it)
			}
			keys = append(keys, it.Key)
		}
		if got := strings.Join(keys, " "); got != c.want {
			t.Errorf("list %q, at most %d: %q, want %q", c.prefix, c.limit, got, c.want)
		}
	}
}

// bytesOfKeys tests that keys and values may be any bytes, and that keys are ordered as bytes.
func bytesOfKeys(t *testing.T, a, b store.Store) {
	ordered := []string{"\x00", "\xfe", "\xff", "\xff\x00", "\xff\xfe", "\xff\xff", "\xff\xff\x80"}
	for _, key := range ordered {
		apply(t, a, putOf(key, 0, key))
	}
	items, err := b.List(t.Context(), "\xff", 0)
	if err != nil || len(items) != 5 {
		t.Fatalf("%d items, %v", len(items), err)
	}
	for i, it := range items {
		if want := ordered[i+2]; it.Key != want || string(it.Value) != want {
			t.Errorf("item %d: %q = %q, want %q", i, it.Key, it.Value, want)
		}
	}
}

// refused tests that an invalid batch is rejected and changes nothing.
func refused(t *testing.T, a, _ store.Store) {
	v := apply(t, a, putOf("k", 0, "x"))
	many := make([]store.Change, store.MaxChanges+1)
	for i := range many {
		many[i] = putOf(fmt.Sprint("m", i), 0, "x")
	}
	for name, changes := range map[string][]store.Change{
		"none": nil, "too many": many, "no key": {putOf("", 0, "x")}, "long key": {putOf(strings.Repeat("k", store.MaxKey+1), 0, "x")},
		"long value": {putOf("l", 0, strings.Repeat("v", store.MaxValue+1))}, "twice": {putOf("k", v, "y"), deleteOf("k", v)},
		"delete of nothing": {deleteOf("l", 0)}, "check of nothing": {checkOf("l", 0)}, "action": {{Action: 9, Key: "l"}},
	} {
		if _, err := a.Apply(t.Context(), changes...); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	has(t, a, store.Item{Key: "k", Value: []byte("x"), Version: v}, store.Item{Key: "l"})
	apply(t, a, many[1:]...)
}

// cancelled tests that calls with a cancelled context return its error.
func cancelled(t *testing.T, a, _ store.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, get := a.Get(ctx, "k")
	_, list := a.List(ctx, "k", 0)
	_, apply := a.Apply(ctx, putOf("k", 0, "x"))
	for _, err := range []error{get, list, apply} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	}
}

// checkHolds tests that a key that a batch checks does not change before the batch is made. Each of
// two batches checks the key that the other puts; if both run at once, at most one may succeed.
func checkHolds(t *testing.T, a, b store.Store) {
	v := apply(t, a, putOf("x", 0, "0"), putOf("y", 0, "0"))
	for range 50 {
		var errs [2]error
		var both sync.WaitGroup
		both.Go(func() { _, errs[0] = a.Apply(t.Context(), checkOf("x", v), putOf("y", v, "1")) })
		both.Go(func() { _, errs[1] = b.Apply(t.Context(), checkOf("y", v), putOf("x", v, "1")) })
		both.Wait()
		if errs[0] == nil && errs[1] == nil {
			t.Fatal("both batches were made, though each changed what the other had checked")
		}
		x, err := a.Get(t.Context(), "x")
		if err != nil {
			t.Fatal(err)
		}
		y, err := a.Get(t.Context(), "y")
		if err != nil {
			t.Fatal(err)
		}
		v = apply(t, a, putOf("x", x.Version, "0"), putOf("y", y.Version, "0"))
	}
}

// sum tests that every List sees the same sum while goroutines move amounts between keys.
func sum(t *testing.T, a, b store.Store) {
	const keys, each = 4, 10
	var first []store.Change
	for i := range keys {
		first = append(first, putOf(fmt.Sprint("n", i), 0, strings.Repeat("1", each)))
	}
	apply(t, a, first...)
	var all sync.WaitGroup
	for g := range keys {
		s := []store.Store{a, b}[g%2]
		all.Go(func() {
			for range 25 {
				if err := move(t.Context(), s, g, (g+1)%keys); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Go(func() {
		for range 50 {
			items, err := b.List(t.Context(), "n", 0)
			total := 0
			for _, it := range items {
				total += len(it.Value)
			}
			if err != nil || total != keys*each {
				t.Errorf("a sum of %d, want %d (%v)", total, keys*each, err)
			}
		}
	})
	all.Wait()
}

// move takes one from a key and gives it to another. It does nothing if another batch changes a key
// in between.
func move(ctx context.Context, s store.Store, from, to int) error {
	f, err := s.Get(ctx, fmt.Sprint("n", from))
	if err != nil || len(f.Value) == 0 {
		return err
	}
	g, err := s.Get(ctx, fmt.Sprint("n", to))
	if err != nil {
		return err
	}
	_, err = s.Apply(ctx, putOf(f.Key, f.Version, string(f.Value[1:])), putOf(g.Key, g.Version, string(g.Value)+"1"))
	if fault.Is(err, fault.Conflict) {
		return nil
	}
	return err
}

// asInMemory makes random calls, and compares their results with those of the store in memory.
func asInMemory(t *rapid.T, a, b store.Store, prefix string) {
	ctx := context.Background()
	model := memory.New()
	versions := map[uint64]uint64{0: 0} // versions of the store by versions of the model
	keys := rapid.SampledFrom([]string{"a", "b", "c", "d"})
	for range rapid.IntRange(1, 12).Draw(t, "calls") {
		var ours, theirs []store.Change
		for _, key := range rapid.SliceOfNDistinct(keys, 1, 3, rapid.ID).Draw(t, "keys") {
			now, _ := model.Get(ctx, key)
			c := store.Change{Action: store.Action(rapid.IntRange(0, 2).Draw(t, "action")), Key: key, Version: now.Version,
				Value: []byte(rapid.StringN(0, 3, 9).Draw(t, "value"))}
			if rapid.IntRange(0, 4).Draw(t, "wrong") == 0 || c.Version == 0 && c.Action != store.Put {
				c.Version = 1
			}
			theirs = append(theirs, c)
			c.Key, c.Version = prefix+key, versions[c.Version]
			if c.Version == 0 && theirs[len(theirs)-1].Version != 0 {
				c.Version = 1
			}
			ours = append(ours, c)
		}
		s := rapid.SampledFrom([]store.Store{a, b}).Draw(t, "handle")
		want, wantErr := model.Apply(ctx, theirs...)
		got, err := s.Apply(ctx, ours...)
		if fault.KindOf(err) != fault.KindOf(wantErr) || (err == nil) != (wantErr == nil) {
			t.Fatalf("apply %v: %v, want %v", ours, err, wantErr)
		}
		if err == nil {
			versions[want] = got
		}
		compare(ctx, t, b, model, prefix, versions)
	}
}

func compare(ctx context.Context, t *rapid.T, s, model store.Store, prefix string, versions map[uint64]uint64) {
	got, err := s.List(ctx, prefix, 0)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := model.List(ctx, "", 0)
	for i := range want {
		want[i].Key, want[i].Version = prefix+want[i].Key, versions[want[i].Version]
	}
	for i := range got {
		if len(got[i].Value) == 0 && i < len(want) {
			got[i].Value = want[i].Value
		}
	}
	if len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
		t.Fatalf("the store has %v, want %v", got, want)
	}
}

// Waits checks that an Apply that cannot get its lock ends with its context, and that reads do not
// wait. Another connection must hold the lock.
func Waits(t *testing.T, s store.Store) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	begin := time.Now()
	if _, err := s.Apply(ctx, putOf("k", 0, "x")); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) > 5*time.Second {
		t.Errorf("apply, after %v: %v", time.Since(begin), err)
	}
	has(t, s, store.Item{Key: "k"})
}
