package counters_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"adshard/counters"
	"adshard/counters/store"
	"adshard/fault"
)

// TestLog tests that entries that many clients append, while some answers are lost and the
// number of parts changes, are all read exactly once. It also tests that Len counts them.
func TestLog(t *testing.T) {
	onEach(t, func(t *testing.T, s store.Store) {
		for name, m := range modes {
			t.Run(name, func(t *testing.T) { logged(t, s, m, name) })
		}
	})
}

func logged(t *testing.T, s store.Store, m counters.Mode, name string) {
	ctx := t.Context()
	n := 0
	var mu sync.Mutex
	l := &losing{Store: s, decide: func(changes []store.Change) loss {
		mu.Lock()
		defer mu.Unlock()
		if n++; n%5 > 0 {
			return none
		}
		return loss(1 + n/5%3)
	}}
	log, err := counters.NewLog[string](l, m, quick)
	must(t, err)
	var want []string
	var all sync.WaitGroup
	for client := range 4 {
		all.Go(func() {
			for i := range 15 {
				entry := fmt.Sprint(client, " wrote ", i)
				mu.Lock()
				want = append(want, entry)
				mu.Unlock()
				appended(t, log, name, entry)
			}
		})
	}
	other, err := counters.NewLog[string](s, m, quick)
	must(t, err)
	for parts := range 6 {
		must(t, other.Resize(ctx, name, 6-parts))
		must(t, other.Maintain(ctx, name))
	}
	all.Wait()
	l.late.Wait()
	must(t, other.Maintain(ctx, name))
	got, err := log.Read(ctx, name)
	slices.Sort(got)
	slices.Sort(want)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%d entries, want %d: %v (%v)", len(got), len(want), got, err)
	}
	if n, err := log.Len(ctx, name); err != nil || n != int64(len(want)) {
		t.Errorf("%d entries, want %d (%v)", n, len(want), err)
	}
}

// appended appends an entry, and tries again after an error that says that it was not
// appended.
func appended(t *testing.T, log *counters.Log[string], name, entry string) {
	for {
		var unknown *counters.Unknown
		switch err := log.Append(t.Context(), name, entry); {
		case err == nil:
			return
		case errors.As(err, &unknown) || !fault.Is(err, fault.Unavailable):
			t.Errorf("%s: %v", entry, err)
			return
		}
	}
}

// TestRefused tests that invalid modes, kinds and names are rejected before anything is
// stored.
func TestRefused(t *testing.T) {
	s := func() store.Store { return nil }() // never reached
	rule := func(change func(*counters.Rule)) counters.Mode {
		r := counters.DefaultRule()
		change(&r)
		return counters.Adaptive(r)
	}
	for name, m := range map[string]counters.Mode{
		"no mode": {}, "no shards": counters.Static(0), "many shards": counters.Static(counters.MaxShards + 1),
		"least": rule(func(r *counters.Rule) { r.Least = 0 }),
		"most":  rule(func(r *counters.Rule) { r.Most = r.Least - 1 }),
		"aim":   rule(func(r *counters.Rule) { r.Aim = r.Grow }),
		"flaps": rule(func(r *counters.Rule) { r.Shrink = r.Grow / 2 }),
		"step":  rule(func(r *counters.Rule) { r.Step = 1 }),
	} {
		if _, err := counters.New(s, counters.Sum[int](), m, counters.Options{}); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, err := range map[string]error{
		"kind":     second(counters.New(s, counters.Kind[int]{}, counters.Static(1), counters.Options{})),
		"attempts": second(counters.New(s, counters.Sum[int](), counters.Static(1), counters.Options{Attempts: -1})),
		"backoff":  second(counters.New(s, counters.Sum[int](), counters.Static(1), counters.Options{Backoff: -1})),
		"no name":  sums(t, s, counters.Static(1), quick).Update(t.Context(), "", plus(1)),
		"name":     sums(t, s, counters.Static(1), quick).Set(t.Context(), strings.Repeat("n", 256), 1),
		"resize":   sums(t, s, counters.Static(1), quick).Resize(t.Context(), "c", 0),
	} {
		if !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// TestDamaged tests that a head or part that cannot be read is fault.Corrupt, and one of a
// later format is fault.Version. Neither is overwritten.
func TestDamaged(t *testing.T) {
	for _, c := range []struct {
		key, value string
		kind       fault.Kind
	}{
		{"c/c/0", "no JSON", fault.Corrupt}, {"c/c/0", `{"format":1,"shards":0,"value":0}`, fault.Corrupt},
		{"c/c/0", `{"format":2,"shards":1,"value":0}`, fault.Version}, {"c/c/s/0000", "{", fault.Corrupt},
		{"c/c/0", `{"format":1,"shards":1,"epoch":1,"value":"a text"}`, fault.Corrupt},
	} {
		onEach(t, func(t *testing.T, s store.Store) {
			f := sums(t, s, counters.Static(1), quick)
			must(t, f.Update(t.Context(), "c", plus(1)))
			it, err := s.Get(t.Context(), c.key)
			must(t, err)
			_, err = s.Apply(t.Context(), store.Change{Key: c.key, Version: it.Version, Value: []byte(c.value)})
			must(t, err)
			if _, err := f.Value(t.Context(), "c"); !fault.Is(err, c.kind) {
				t.Errorf("%s: %v", c.value, err)
			}
			if strings.HasPrefix(c.value, `{"format":1,"shards":1`) {
				return // only the value is wrong, and updates of a shard do not read it
			}
			if err := sums(t, s, counters.Static(1), quick).Update(t.Context(), "c", plus(1)); !fault.Is(err, c.kind) {
				t.Errorf("update, %s: %v", c.value, err)
			}
		})
	}
}
