package sqlite_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"adshard/backend"
	"adshard/backend/backendtest"
	"adshard/backend/sqlite"
)

func open(t testing.TB) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "ads.db"), sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

const (
	benchGroups = 10_000
	benchRows   = benchGroups * backendtest.FillKeywords
)

// fill writes the benchmark's data.
func fill(b *testing.B, s *sqlite.Store) {
	b.Helper()
	backendtest.Fill(b, s, benchGroups)
}

func keywordsPerSecond(b *testing.B) {
	b.ReportMetric(float64(benchRows)*float64(b.N)/b.Elapsed().Seconds(), "keywords/s")
}

// BenchmarkImport writes groups of 11 keywords with a negative and an ad into
// an empty database, 20,000 keywords a transaction; "again" writes the same a
// second time, which changes nothing.
func BenchmarkImport(b *testing.B) {
	b.Run("first", func(b *testing.B) {
		b.ReportAllocs()
		for i := range b.N {
			b.StopTimer()
			s, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), fmt.Sprint(i, ".db")), sqlite.Options{Create: true})
			if err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
			fill(b, s)
			b.StopTimer()
			s.Close()
			b.StartTimer()
		}
		keywordsPerSecond(b)
	})
	b.Run("again", func(b *testing.B) {
		s := open(b)
		fill(b, s)
		b.ReportAllocs()
		b.ResetTimer()
		for range b.N {
			fill(b, s)
		}
		keywordsPerSecond(b)
	})
}

// BenchmarkRead reads the same data: everything, by ids in a mixed order (as a balancer does by keys), and only
// sizes.
func BenchmarkRead(b *testing.B) {
	s := open(b)
	fill(b, s)
	snapshot := func(b *testing.B) backend.Snapshot {
		n, err := s.Snapshot(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { n.Close() })
		b.ReportAllocs()
		b.ResetTimer()
		return n
	}
	b.Run("all", func(b *testing.B) {
		n := snapshot(b)
		for range b.N {
			for _, err := range n.All(b.Context()) {
				if err != nil {
					b.Fatal(err)
				}
			}
		}
		keywordsPerSecond(b)
	})
	b.Run("items", func(b *testing.B) {
		n := snapshot(b)
		ids := make([]uint64, benchGroups)
		for i := range ids {
			ids[i] = uint64(i*7919%benchGroups) + 1
		}
		for range b.N {
			for at := 0; at < len(ids); at += 500 {
				if _, err := n.Items(b.Context(), ids[at:at+500]); err != nil {
					b.Fatal(err)
				}
			}
		}
		keywordsPerSecond(b)
	})
	b.Run("sizes", func(b *testing.B) {
		n := snapshot(b)
		for range b.N {
			for _, err := range n.Groups(b.Context()) {
				if err != nil {
					b.Fatal(err)
				}
			}
		}
		keywordsPerSecond(b)
	})
}
