package barreltest

import (
	"context"
	"runtime"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"google.golang.org/protobuf/proto"

	"adshard/barrels"
	"adshard/schema/pb"
)

// Changes makes buckets that change whole groups: each keyword gets a new bid, and every tenth one
// other words. The order of groups is unrelated to their keys.
type Changes struct {
	items []*pb.Item // copies, changed in place
	next  int        // index of the next group to change
	round uint64     // how many times all groups were changed
	clock uint64     // clock at which the next bucket begins
}

// NewChanges prepares changes of a corpus for a store that has been filled with it.
func NewChanges(c *Corpus) *Changes {
	ch := &Changes{clock: c.Data.To.Clock}
	n := len(c.Data.Items)
	for i := range n {
		ch.items = append(ch.items, proto.CloneOf(c.Data.Items[i*changeStride%n]))
	}
	return ch
}

// changeStride is a prime, so that the stride visits all groups.
const changeStride = 7919

// Bucket returns a bucket that changes about the given number of keywords, and the exact number.
// The bucket is valid until the next call.
func (ch *Changes) Bucket(keywords int) (*pb.NodeData, int) {
	d := &pb.NodeData{From: At(ch.clock), To: At(ch.clock + 1)}
	ch.clock++
	n := 0
	for n < keywords && len(d.Items) < len(ch.items) {
		it := ch.items[ch.next]
		ch.change(it)
		if ch.next++; ch.next == len(ch.items) {
			ch.next = 0
			ch.round++
		}
		d.Items = append(d.Items, it)
		n += len(it.Keywords)
	}
	sortItems(d.Items)
	return d, n
}

// change gives a group's keywords other bids, and every tenth one the words of a keyword of another
// group.
func (ch *Changes) change(it *pb.Item) {
	other := ch.items[(ch.next+len(ch.items)/2)%len(ch.items)].Keywords
	for i, k := range it.Keywords {
		bid := 10_000*(ch.round%50+1) + uint64(i)*10_000
		k.Bid = &bid
		if i%10 == int(ch.round%10) && len(other) > 0 {
			o := other[i%len(other)]
			k.Text, k.Norm, k.Fold, k.Forms = o.Text, o.Norm, o.Fold, o.Forms
		}
	}
}

// changeBucket is the approximate number of keywords that one bucket changes.
const changeBucket = 10_000

// BenchmarkChanges measures how many keywords per second a store takes if whole groups change
// (Changes), and the processor time per keyword. That is the time of the whole process, including
// RocksDB's threads and background work. s must hold the corpus.
func BenchmarkChanges(b *testing.B, c *Corpus, s barrels.Store) {
	ch := NewChanges(c)
	stop := maintaining(b, s)
	defer stop()
	total := 0
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	used := time.Duration(0)
	for b.Loop() {
		b.StopTimer()
		d, n := ch.Bucket(changeBucket)
		total += n
		start := processTime(b)
		b.StartTimer()
		if err := s.Apply(context.Background(), d); err != nil {
			b.Fatal(err)
		}
		used += processTime(b) - start
	}
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(total)/b.Elapsed().Seconds(), "keywords/s")
	b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/float64(total), "B/keyword")
	b.ReportMetric(float64(used)/1e3/float64(total), "cpu-µs/keyword")
}

// processTime returns the processor time that all threads have used.
func processTime(t testing.TB) time.Duration {
	var s unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &s); err != nil {
		t.Fatal(err)
	}
	return time.Duration(s.Nano())
}

// maintaining does the store's background work until stop is called.
func maintaining(t testing.TB, s barrels.Store) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(maintainEvery)
		defer tick.Stop()
		for {
			if err := s.Maintain(ctx); err != nil {
				t.Errorf("maintain: %v", err)
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
	}()
	return func() { cancel(); <-done }
}

const maintainEvery = time.Second

// BenchmarkSearchChanged measures searches, one at a time, first at rest, then while keywords
// change at a steady rate (keywords per second) in buckets of a tenth of a second. It reports the
// percentiles of both as a caller sees them.
func BenchmarkSearchChanged(b *testing.B, c *Corpus, s barrels.Store, rate int) {
	requests := c.Requests(b)
	stop := maintaining(b, s)
	defer stop()
	search := func(took []time.Duration, i int) []time.Duration {
		start := time.Now()
		if _, err := s.Search(context.Background(), requests[i%len(requests)]); err != nil {
			b.Fatal(err)
		}
		return append(took, time.Since(start))
	}
	if err := s.Maintain(context.Background()); err != nil {
		b.Fatal(err)
	}
	var rest, busy []time.Duration
	for i := range 2 * len(requests) { // once to fill caches, then once to measure
		if rest = search(rest, i); i == len(requests) {
			rest = rest[:0]
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	applied := make(chan int)
	go func() { applied <- changeAt(ctx, b, NewChanges(c), s, rate) }()
	start := time.Now()
	for i := 0; b.Loop(); i++ {
		busy = search(busy, i)
	}
	cancel()
	n := <-applied
	b.ReportMetric(float64(n)/time.Since(start).Seconds(), "keywords/s")
	report(b, "rest", rest)
	report(b, "busy", busy)
}

// changeAt applies changes at a rate until ctx is done, and returns how many keywords it changed.
func changeAt(ctx context.Context, t testing.TB, ch *Changes, s barrels.Store, rate int) (total int) {
	const every = time.Second / 10
	tick := time.NewTicker(every)
	defer tick.Stop()
	for start := time.Now(); ctx.Err() == nil; {
		for due := int(float64(rate) * time.Since(start).Seconds()); total < due && ctx.Err() == nil; {
			d, n := ch.Bucket(rate / 10)
			if err := s.Apply(context.Background(), d); err != nil {
				t.Errorf("apply: %v", err)
				return total
			}
			total += n
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
	return total
}

func report(b *testing.B, name string, took []time.Duration) {
	slices.Sort(took)
	at := func(permille int) float64 { return float64(took[(len(took)-1)*permille/1000]) / 1e3 }
	b.ReportMetric(at(500), name+"-p50-µs")
	b.ReportMetric(at(990), name+"-p99-µs")
	b.ReportMetric(at(999), name+"-p999-µs")
}
