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
	"adshard/barrels/load"
	"adshard/schema/pb"
	"adshard/search"
	"adshard/search/words"
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

// BenchmarkSearch measures searches with realistic queries, one at a time, and reports the median and
// the 99th percentile.
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

// MeasureSearch runs the requests over and over.
func MeasureSearch(b *testing.B, s barrels.Store, requests []*search.Request) {
	for _, r := range requests { // once, to fill caches
		if _, err := s.Search(context.Background(), r); err != nil {
			b.Fatal(err)
		}
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var took []time.Duration // processor time, which the load of other programs does not change
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
	b.ReportMetric(float64(work.BlocksSkipped)/n, "skipped/op")
	b.ReportMetric(float64(work.Examined)/n, "postings/op")
	b.ReportMetric(float64(hits)/n, "hits/op")
}

// BenchmarkCounting measures what counting load costs. It alternates turns with and without
// counting, so that other load on the machine affects both, and reports the median over the pairs
// of how much longer counting took. The ring is cut into as many slices as a slave may have.
func BenchmarkCounting(b *testing.B, keywords int64, open func(testing.TB) barrels.Store) {
	c := LoadCorpus(b, keywords)
	s := open(b)
	defer s.Close()
	Fill(b, s, c.Buckets(8<<20))
	to := proto.CloneOf(c.Data.To)
	to.Quantum++
	put(b, s, &pb.NodeData{From: c.Data.To, To: to, Slices: c.cut(100)})
	requests := c.Requests(b)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	next := 0
	turn := func(every int) time.Duration {
		s.CountLoad(every)
		start := processorTime(b)
		for i := range countingTurn {
			if _, err := s.Search(context.Background(), requests[(next+i)%len(requests)]); err != nil {
				b.Fatal(err)
			}
		}
		return processorTime(b) - start
	}
	for range len(requests)/countingTurn + 1 { // once, to fill caches
		turn(0)
		next += countingTurn
	}
	var ratios []float64
	var on, off time.Duration
	for b.Loop() {
		turn(0) // the first turn with these queries pays for filling the processor's caches
		without, with := turn(0), turn(load.DefaultCountEvery)
		with, without = with+turn(load.DefaultCountEvery), without+turn(0)
		on, off = on+with, off+without
		ratios = append(ratios, float64(with)/float64(without))
		next += countingTurn
	}
	slices.Sort(ratios)
	n := float64(2 * countingTurn * len(ratios))
	b.ReportMetric(float64(on.Nanoseconds())/n/1e3, "on-µs/search")
	b.ReportMetric(float64(off.Nanoseconds())/n/1e3, "off-µs/search")
	b.ReportMetric(100*(ratios[len(ratios)/2]-1), "overhead-%")
}

// cut returns a table of n slices with about equally many groups, all of them served.
func (c *Corpus) cut(n int) *pb.SliceTable {
	t := &pb.SliceTable{View: 1}
	lo := uint64(0)
	for i := range n {
		hi := ^uint64(0)
		if i+1 < n {
			hi = c.Data.Items[len(c.Data.Items)*(i+1)/n].Group.Key
		}
		t.Slices = append(t.Slices, &pb.HeldSlice{Id: uint64(i + 1), Lo: lo, Hi: hi, Generation: 1, From: 1})
		lo = hi + 1
	}
	return t
}

// countingTurn is the number of searches in a turn.
const countingTurn = 500

// BenchmarkCertify measures certificates of a whole store.
func BenchmarkCertify(b *testing.B, keywords int64, open func(testing.TB) barrels.Store) {
	c := LoadCorpus(b, keywords)
	s := open(b)
	defer s.Close()
	Fill(b, s, c.Buckets(8<<20))
	for b.Loop() {
		if _, err := s.Certify(context.Background(), 0, ^uint64(0), ^uint64(0), nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(c.Keywords()*b.N)/b.Elapsed().Seconds(), "keywords/s")
}

// BenchmarkCertifyGroups certifies one group after the other, as if each were a slice of its own.
func BenchmarkCertifyGroups(b *testing.B, keywords int64, open func(testing.TB) barrels.Store) {
	c := LoadCorpus(b, keywords)
	s := open(b)
	defer s.Close()
	Fill(b, s, c.Buckets(8<<20))
	certified := 0
	for i := 0; b.Loop(); i++ {
		it := c.Data.Items[i*7919%len(c.Data.Items)]
		if _, err := s.Certify(context.Background(), it.Group.Key, it.Group.Key, ^uint64(0), nil); err != nil {
			b.Fatal(err)
		}
		certified += len(it.Keywords)
	}
	b.ReportMetric(float64(certified)/b.Elapsed().Seconds(), "keywords/s")
}

// processorTime returns the processor time that this thread has used.
func processorTime(t testing.TB) time.Duration {
	var s unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &s); err != nil {
		t.Fatal(err)
	}
	return time.Duration(s.Nano())
}

// BenchmarkApply measures buckets that change one group each: the bid of one of its keywords.
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

// BenchmarkAdvertiserNegatives measures what answers cost if the largest advertiser, or every
// advertiser, has a negative. It alternates turns of two stores that differ only in this, and reports
// the median over the pairs of how much longer the store with negatives took.
func BenchmarkAdvertiserNegatives(b *testing.B, keywords int64, open func(testing.TB) barrels.Store) {
	c := LoadCorpus(b, keywords)
	largest := c.largestAdvertiser()
	word, err := new(words.Analyser).Split("free")
	if err != nil {
		b.Fatal(err)
	}
	for name, has := range map[string]func(*pb.Advertiser) bool{
		"largest": func(a *pb.Advertiser) bool { return a.Id == largest },
		"each":    func(*pb.Advertiser) bool { return true },
	} {
		b.Run(name, func(b *testing.B) {
			var stores [2]barrels.Store
			for i := range stores {
				stores[i] = open(b)
				defer stores[i].Close()
				Fill(b, stores[i], c.Buckets(8<<20))
			}
			to := proto.CloneOf(c.Data.To)
			to.Quantum++
			change := &pb.NodeData{From: c.Data.To, To: to}
			for _, a := range c.Data.Advertisers {
				if a = proto.CloneOf(a); has(a) {
					a.Negatives = []*pb.Negative{{Id: 1 << 40, Text: "free", Type: pb.MatchType_MATCH_TYPE_BROAD, Norm: []uint64{word[0].Norm}, Enabled: true}}
				}
				change.Advertisers = append(change.Advertisers, a)
			}
			put(b, stores[1], change)
			pairs(b, stores, c.Requests(b))
		})
	}
}

// largestAdvertiser returns the advertiser with the most keywords.
func (c *Corpus) largestAdvertiser() (id uint64) {
	n := map[uint64]int{}
	for _, it := range c.Data.Items {
		a := it.Group.AdvertiserId
		if n[a] += len(it.Keywords); n[a] > n[id] {
			id = a
		}
	}
	return id
}

// pairs measures how much longer the second of two stores takes to answer.
func pairs(b *testing.B, stores [2]barrels.Store, requests []*search.Request) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	next := 0
	turn := func(s barrels.Store) time.Duration {
		start := processorTime(b)
		for i := range countingTurn {
			if _, err := s.Search(context.Background(), requests[(next+i)%len(requests)]); err != nil {
				b.Fatal(err)
			}
		}
		return processorTime(b) - start
	}
	for range len(requests)/countingTurn + 1 { // once, to fill caches
		turn(stores[0])
		turn(stores[1])
		next += countingTurn
	}
	var ratios []float64
	for b.Loop() {
		first, second := turn(stores[0]), turn(stores[1])
		ratios = append(ratios, float64(second+turn(stores[1]))/float64(first+turn(stores[0])))
		next += countingTurn
	}
	slices.Sort(ratios)
	b.ReportMetric(100*(ratios[len(ratios)/2]-1), "dearer-%")
}
