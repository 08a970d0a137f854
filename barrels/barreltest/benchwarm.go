package barreltest

import (
	"context"
	"runtime"
	"slices"
	"testing"
	"time"

	"adshard/barrels"
	"adshard/search"
)

// BenchmarkFirstSearches measures the first search for each of 2,000 queries in a store that was just opened,
// with and without lists that Warm has prepared, the mean of the second and the third, and what Warm
// takes per list. All times are processor times.
func BenchmarkFirstSearches(b *testing.B, c *Corpus, open func(testing.TB) barrels.Store) {
	requests := distinct(c.Requests(b))
	requests = requests[:min(len(requests), 2000)]
	for _, warm := range []bool{false, true} {
		name := "cold"
		if warm {
			name = "warm"
		}
		b.Run(name, func(b *testing.B) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			var took, second, third []time.Duration
			var warming time.Duration
			lists := 0
			for b.Loop() {
				s := open(b)
				if warm {
					start := processorTime(b)
					lists += s.Warm(context.Background())
					warming += processorTime(b) - start
				}
				took = firsts(b, s, requests, took)
				second = firsts(b, s, requests, second)
				third = firsts(b, s, requests, third)
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
			}
			slices.Sort(took)
			b.ReportMetric(mean(took), "mean-µs")
			b.ReportMetric(mean(second), "second-µs")
			b.ReportMetric(mean(third), "third-µs")
			b.ReportMetric(float64(took[len(took)/2])/1e3, "p50-µs")
			b.ReportMetric(float64(took[len(took)*99/100])/1e3, "p99-µs")
			if lists > 0 {
				b.ReportMetric(float64(warming)/float64(lists)/1e3, "warm-µs/list")
				b.ReportMetric(float64(lists)/float64(b.N), "lists")
			}
		})
	}
}

// mean returns the mean in microseconds.
func mean(took []time.Duration) float64 {
	sum := time.Duration(0)
	for _, d := range took {
		sum += d
	}
	return float64(sum) / float64(len(took)) / 1e3
}

// firsts sends each request once and appends the processor time of each to took.
func firsts(b *testing.B, s barrels.Store, requests []*search.Request, took []time.Duration) []time.Duration {
	for _, r := range requests {
		start := processorTime(b)
		if _, err := s.Search(context.Background(), r); err != nil {
			b.Fatal(err)
		}
		took = append(took, processorTime(b)-start)
	}
	return took
}

// distinct returns the requests without repeated queries.
func distinct(requests []*search.Request) []*search.Request {
	seen := make(map[string]bool)
	return slices.DeleteFunc(slices.Clone(requests), func(r *search.Request) bool {
		text := r.Query.Text
		again := seen[text]
		seen[text] = true
		return again
	})
}
