package rdb

import (
	"context"
	"flag"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"adshard/bench/layouts"
	"adshard/bench/layouts/layouttest"
)

// tuned is the size of BenchmarkTuning's set: a small one in ordinary runs.
var tuned = flag.Int64("tuned", 5_000, "size of BenchmarkTuning's set")

// with returns a tuning with one text replaced by another.
func (t tuning) with(b testing.TB, old, now string) tuning {
	b.Helper()
	out := slices.Clone(t)
	for i := range out {
		out[i] = strings.Replace(out[i], old, now, 1)
	}
	if slices.Equal(t, out) {
		b.Fatalf("%s has no %s", t, old)
	}
	return out
}

// alternatives returns the baseline's tunings with one choice changed in each.
func alternatives(b *testing.B) map[string]tunings {
	c, l := cached, limited
	return map[string]tunings{
		"cached":                         c,
		"cached, one prefix a table":     both(c.matching.with(b, "user_key_len=16", "user_key_len=16;encoding_type=kPrefix"), c.records),
		"cached, Bloom filter":           both(c.matching.with(b, "bloom_bits_per_key=0", "bloom_bits_per_key=10"), c.records),
		"cached, fuller hash tables":     both(c.matching.with(b, "ratio=0.5", "ratio=0.75"), c.records.with(b, "ratio=0.5", "ratio=0.75")),
		"cached, records in blocks":      both(c.matching, l.records),
		"cached, keywords in blocks":     both(l.matching.with(b, "kLZ4", "kNo"), c.records),
		"limited":                        l,
		"limited, not compressed":        both(l.matching.with(b, "kLZ4", "kNo"), l.records.with(b, "kLZ4", "kNo")),
		"limited, blocks of 4 KiB":       both(l.matching.with(b, "16384", "4096"), l.records),
		"limited, blocks of 1 KiB":       both(l.matching, l.records.with(b, "4096", "1024")),
		"limited, without hash index":    both(l.matching, l.records.with(b, "kDataBlockBinaryAndHash", "kDataBlockBinarySearch")),
		"limited, filter of records":     both(l.matching, l.records.with(b, "block_size", "filter_policy=bloomfilter:10:false;block_size")),
		"limited, indexes in cache":      both(l.matching.with(b, "blocks=false", "blocks=true"), l.records.with(b, "blocks=false", "blocks=true")),
		"limited, restarts half as many": both(l.matching.with(b, "block_size", "block_restart_interval=32;block_size"), l.records),
	}
}

// both returns tunings for databases with a common cache.
func both(matching, records tuning) tunings { return tunings{matching: matching, records: records} }

// BenchmarkTuning asks RDB-Pr-Fl-Opt the same queries with each tuning in
// turn. For each query the fastest of the rounds counts, so that other load on
// the machine does not matter.
func BenchmarkTuning(b *testing.B) {
	set, queries := layouttest.BenchSet(b, "../../../../shared/data", *tuned)
	queries = queries[:200]
	best := map[string][]time.Duration{}
	searchers := map[string]layouts.Searcher{}
	for name, t := range alternatives(b) {
		d := named(baseline)
		d.cached = t
		st, err := layout{d}.Build(context.Background(), set, layouts.Options{Dir: b.TempDir()})
		if err != nil {
			b.Fatal(err)
		}
		defer st.Close()
		if searchers[name], err = st.Searcher(); err != nil {
			b.Fatal(err)
		}
		defer searchers[name].Close()
		best[name] = slices.Repeat([]time.Duration{time.Hour}, len(queries))
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for b.Loop() {
		for i, q := range queries {
			for name, s := range searchers {
				start := processorTime(b)
				if _, err := s.Search(context.Background(), q); err != nil {
					b.Fatal(err)
				}
				best[name][i] = min(best[name][i], processorTime(b)-start)
			}
		}
	}
	for name, times := range best {
		sum := time.Duration(0)
		for _, t := range times {
			sum += t
		}
		b.ReportMetric(float64(sum.Nanoseconds())/1e3/float64(len(times)), strings.ReplaceAll(name, " ", "-")+"-µs")
	}
}

// processorTime returns the processor time that this thread has used.
func processorTime(t testing.TB) time.Duration {
	var s unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &s); err != nil {
		t.Fatal(err)
	}
	return time.Duration(s.Nano())
}
