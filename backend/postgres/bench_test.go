package postgres_test

import (
	"testing"

	"adshard/backend"
	"adshard/backend/backendtest"
)

const benchGroups = 5_000

func keywordsPerSecond(b *testing.B) {
	b.ReportMetric(float64(b.N)*benchGroups*backendtest.FillKeywords/b.Elapsed().Seconds(), "keywords/s")
}

// BenchmarkImport fills an empty database; Again imports the same data again.
func BenchmarkImport(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		s := open(b, newPlace(b))
		b.StartTimer()
		backendtest.Fill(b, s, benchGroups)
	}
	keywordsPerSecond(b)
}

func BenchmarkImportAgain(b *testing.B) {
	s := open(b, newPlace(b))
	backendtest.Fill(b, s, benchGroups)
	for b.Loop() {
		backendtest.Fill(b, s, benchGroups)
	}
	keywordsPerSecond(b)
}

// BenchmarkRead reads everything, as a slave's first fill does.
func BenchmarkRead(b *testing.B) {
	s := open(b, newPlace(b))
	backendtest.Fill(b, s, benchGroups)
	for b.Loop() {
		backendtest.ReadNow(b, s)
	}
	keywordsPerSecond(b)
}

// BenchmarkBudget marks a budget: the shortest durable transaction, except that this server does not sync.
func BenchmarkBudget(b *testing.B) {
	s := open(b, newPlace(b))
	backendtest.Fill(b, s, 1)
	for i := 0; b.Loop(); i++ {
		if err := s.SetBudget(b.Context(), 1, backend.BudgetMark{Exhausted: i%2 == 0}); err != nil {
			b.Fatal(err)
		}
	}
}
