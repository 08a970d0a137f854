package sqlite_test

import (
	"testing"

	"adshard/backend"
)

// BenchmarkCommit measures a small durable write: one fsync of the log.
func BenchmarkCommit(b *testing.B) {
	s := open(b)
	fill(b, s)
	b.Run("control", func(b *testing.B) {
		value := make([]byte, 1000)
		for i := range b.N {
			value[0], value[1] = byte(i), byte(i>>8)
			if err := s.SaveControl(b.Context(), "model", value); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("budget", func(b *testing.B) {
		for i := range b.N {
			if err := s.SetBudget(b.Context(), 1, backend.BudgetMark{Exhausted: i%2 == 0}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkFeed measures following the feed: the newest position, and a hundred changes with their content.
func BenchmarkFeed(b *testing.B) {
	s := open(b)
	fill(b, s)
	b.Run("newest", func(b *testing.B) {
		for range b.N {
			if _, err := s.Newest(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("changes-100", func(b *testing.B) {
		for range b.N {
			changes, err := s.Changes(b.Context(), backend.Position{Clock: 500}, 100)
			if err != nil || len(changes) != 100 {
				b.Fatal(len(changes), err)
			}
			var ids []uint64
			for _, c := range changes {
				if c.Kind == backend.KindGroup {
					ids = append(ids, c.ID)
				}
			}
			n, err := s.Snapshot(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			if _, err := n.Items(b.Context(), ids); err != nil {
				b.Fatal(err)
			}
			if err := n.Close(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
