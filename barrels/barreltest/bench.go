package barreltest

import (
	"context"
	"runtime"
	"slices"
	"testing"
	"time"

	"adshard/barrels"
	"adshard/schema/pb"
	"adshard/search"

	"golang.org/x/sys/unix"
)

// BenchmarkFill measures the first fill of a store by buckets of 8 MB.
func BenchmarkFill(b *testing.B, keywords int64, open func(testing.TB) barrels.Store) {
	c := LoadCorpus(b, keywords)
	buckets := c.Buckets(8 << 20)
	for b.Loop() {
		s := open(b)
		Fill(b, s, buckets)
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(c.Keywords()*b.N)/b.Elapsed().Seconds(), "keywords/s")
}

// BenchmarkSearch measures searches with real-looking queries, one at a time,
// and reports the median and the 99th percentile.
func BenchmarkSearch(b *testing.B, keywords int64, open func(testing.TB) barrels.Store) {
	c := LoadCorpus(b, keywords)
	s := open(b)
	defer s.Close()
	Fill(b, s, c.Buckets(8<<20))
	if err := s.Maintain(context.Background()); err != nil {
		b.Fatal(err)
	}
	b.Logf("%+v", s.Stats())
	MeasureSearch(b, s, c.Requests(b))
}

// MeasureSearch runs the requests, round and round.
func MeasureSearch(b *testing.B, s barrels.Store, requests []*search.Request) {
	for _, r := range requests { // once, to fill caches
		if _, err := s.Search(context.Background(), r); err != nil {
			b.Fatal(err)
		}
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var took []time.Duration // time of the processor: others' load does not count
	var work search.Work
	hits, i := 0, 0
	b.ReportAllocs()
	for b.Loop() {
		start := processorTime(b)
		a, err := s.Search(context.Background(), requests[i%len(requests)])
		took = append(took, processorTime(b)-start)
		if err != nil {
			b.Fatal(err)
		}
		work.Add(a.Work)
		hits += len(a.Hits)
		i++
	}
	slices.Sort(took)
	n := float64(len(took))
	b.ReportMetric(float64(took[len(took)/2])/1e3, "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100])/1e3, "p99-µs")
	b.ReportMetric(float64(took[len(took)-1])/1e3, "max-µs")
	b.ReportMetric(float64(work.BlocksRead)/n, "read/op")
	b.ReportMetric(float64(work.BlocksPassed)/n, "passed/op")
	b.ReportMetric(float64(work.Looked)/n, "postings/op")
	b.ReportMetric(float64(hits)/n, "hits/op")
}

// processorTime is what this thread has used.
func processorTime(t testing.TB) time.Duration {
	var s unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &s); err != nil {
		t.Fatal(err)
	}
	return time.Duration(s.Nano())
}

// BenchmarkApply measures buckets with one changed group each: a bid of one of
// its keywords.
func BenchmarkApply(b *testing.B, keywords int64, open func(testing.TB) barrels.Store) {
	c := LoadCorpus(b, keywords)
	s := open(b)
	defer s.Close()
	Fill(b, s, c.Buckets(8<<20))
	clock, bid := c.Data.To.Clock, uint64(1_000_000)
	for i := 0; b.Loop(); i++ {
		it := c.Data.Items[i*7919%len(c.Data.Items)]
		bid++
		it.Keywords[0].Bid = &bid
		d := &pb.NodeData{From: At(clock), To: At(clock + 1), Items: []*pb.Item{it}}
		if err := s.Apply(context.Background(), d); err != nil {
			b.Fatal(err)
		}
		clock++
	}
}
