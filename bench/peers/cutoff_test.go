package peers_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"adshard/bench/layouts"
	"adshard/bench/peers"
	"adshard/fault"
)

// shared returns a set whose keywords all begin with the same word.
func shared(n int) *layouts.Set {
	b := layouts.NewBuilder()
	b.Group(1, 1)
	for i := range n {
		b.Word("all")
		b.Word(fmt.Sprintf("w%d", i%31))
		b.Keyword(1, 1)
	}
	return b.Set()
}

// TestCutOff: a search that ends at its deadline returns an error and does not
// affect the next one.
func TestCutOff(t *testing.T) {
	set := shared(5000)
	text := "all"
	for i := range 31 {
		text += fmt.Sprintf(" w%d", i)
	}
	q := layouts.NewQueries([]string{text})[0]
	want := layouts.Found{Matches: 5000, Sum: 5000 * 5001 / 2}
	for _, l := range peers.All() {
		t.Run(l.Name(), func(t *testing.T) {
			t.Parallel()
			st, err := l.Build(context.Background(), set, layouts.Options{Dir: t.TempDir()})
			if fault.Is(err, fault.Unavailable) {
				t.Skip(err)
			}
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := st.Close(); err != nil {
					t.Error(err)
				}
			}()
			cutOff(t, st, q, want)
		})
	}
}

func cutOff(t *testing.T, st layouts.Store, q *layouts.Query, want layouts.Found) {
	s, err := st.Searcher()
	if err != nil {
		t.Fatal(err)
	}
	for patience := 2 * time.Millisecond; err == nil; patience /= 2 {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		_, err = s.Search(ctx, q)
		cancel()
	}
	if !fault.Is(err, fault.Deadline) {
		t.Errorf("it ended with %v, want an error of kind %v", err, fault.Deadline)
	}
	if got, err := s.Search(context.Background(), q); err != nil || got.Matches != want.Matches || got.Sum != want.Sum {
		t.Errorf("the search after it found %+v, %v, want %+v", got, err, want)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
