package traffic_test

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"adshard/fault"
	"adshard/internal/node/traffic"
	"adshard/schema/pb"
)

// TestAsOracle: what is known of some masters is what a list of all their searches gives: shares and
// rates exactly, percentiles to within a bucket.
func TestAsOracle(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var windows []*traffic.Window
		var took []time.Duration
		var incomplete, refused, failed, all float64
		const seconds = 30
		for range rapid.IntRange(1, 3).Draw(rt, "masters") {
			c, w := new(traffic.Counter), new(traffic.Window)
			for range rapid.IntRange(0, 20).Draw(rt, "before") { // from before the first message
				c.Count(time.Second, false, nil)
			}
			w.Add(time.Minute, c.Message())
			n := rapid.IntRange(1, 60).Draw(rt, "searches")
			for i := range n {
				d := time.Duration(rapid.Int64Range(1, int64(8*time.Second)).Draw(rt, "took"))
				switch rapid.IntRange(0, 5).Draw(rt, "outcome") {
				case 0:
					c.Count(d, true, fault.Newf(fault.Overloaded, "test", "too many"))
					refused++
				case 1:
					c.Count(d, true, errors.New("broken"))
					failed++
				case 2:
					c.Count(d, true, fault.Newf(fault.Invalid, "test", "wrong"))
					all--
				case 3:
					c.Count(d, false, nil)
					incomplete++
					took = append(took, d)
				default:
					c.Count(d, true, nil)
					took = append(took, d)
				}
				all++
				w.Add(time.Minute+time.Duration(i+1)*seconds*time.Second/time.Duration(n), c.Message())
			}
			windows = append(windows, w)
		}
		r := traffic.Lately(time.Minute+seconds*time.Second, windows...)
		near := func(what string, got, want float64) {
			if math.Abs(got-want) > 1e-9 {
				rt.Fatalf("%s: %v, want %v", what, got, want)
			}
		}
		near("a second", r.PerSecond, all/seconds)
		near("incomplete", r.Incomplete*all, incomplete)
		near("refused", r.Refused*all, refused)
		near("failed", r.Failed*all, failed)
		slices.Sort(took)
		for share, got := range map[float64]time.Duration{0.5: r.P50, 0.99: r.P99} {
			if len(took) == 0 {
				near("nothing", float64(got), 0)
				continue
			}
			want := took[int(math.Ceil(share*float64(len(took))))-1]
			if got < want-time.Microsecond && want < traffic.Bound(traffic.Buckets-2) || float64(got) > max(float64(want)*1.26, float64(traffic.Bound(0))) {
				rt.Fatalf("percentile %v of %v: %v, want %v", share, took, got, want)
			}
		}
	})
}

// TestAMinute: only the last minute counts, however long and often a master tells, and little is kept.
func TestAMinute(t *testing.T) {
	var c traffic.Counter
	var w traffic.Window
	for i := range 4000 {
		took := 100 * time.Microsecond
		if i >= 2000 { // the latter half is slow
			took = 100 * time.Millisecond
		}
		c.Count(took, true, nil)
		w.Add(time.Duration(i)*100*time.Millisecond, c.Message())
		if n := w.Len(); n > 16 {
			t.Fatalf("%d moments are kept", n)
		}
	}
	r := traffic.Lately(400*time.Second, &w)
	if r.Over < time.Minute || r.Over > 66*time.Second || math.Abs(r.PerSecond-10) > 1e-6 {
		t.Errorf("%v a second over %v", r.PerSecond, r.Over)
	}
	if r.P50 < 100*time.Millisecond || r.P50 > 125*time.Millisecond {
		t.Errorf("the median is %v", r.P50)
	}
}

// TestSilent: a master that says nothing any more is soon left out of what the others answer, and counts again when it
// is back.
func TestSilent(t *testing.T) {
	var c traffic.Counter
	var dead, alive traffic.Window
	for at := time.Duration(0); at <= 60*time.Second; at += 2 * time.Second {
		if at <= 20*time.Second {
			dead.Add(at, c.Message())
		}
		alive.Add(at, c.Message())
		c.Count(time.Millisecond, true, nil)
		c.Count(time.Millisecond, true, nil)
		r := traffic.Lately(at, &dead, &alive)
		want := 2.0
		if at > 30*time.Second {
			want = 1
		}
		if at > 0 && math.Abs(r.PerSecond-want) > 1e-9 {
			t.Errorf("at %v: %v a second, want %v", at, r.PerSecond, want)
		}
	}
	dead.Add(62*time.Second, c.Message())
	if r := traffic.Lately(62*time.Second, &dead); r.Over == 0 {
		t.Errorf("%+v of one that is back", r)
	}
}

// TestHostile: a master that tells nonsense changes nothing of what others told, and one that begins anew
// is taken at its word from then on.
func TestHostile(t *testing.T) {
	var good traffic.Counter
	var w traffic.Window
	told := func(at time.Duration) { w.Add(at, good.Message()) }
	told(0)
	for range 100 {
		good.Count(time.Millisecond, true, nil)
	}
	told(10 * time.Second)
	before := traffic.Lately(11*time.Second, &w)
	large, short := good.Message(), good.Message()
	large.Complete = math.MaxUint64
	short.Took = short.Took[1:]
	for _, m := range []*pb.Traffic{nil, {}, large, short} {
		w.Add(11*time.Second, m)
	}
	if after := traffic.Lately(11*time.Second, &w); after != before || before.PerSecond != 10 {
		t.Errorf("%+v, before %+v", after, before)
	}
	w.Add(12*time.Second, new(traffic.Counter).Message()) // it has begun anew
	if r := traffic.Lately(12*time.Second, &w); r.Over != 0 {
		t.Errorf("%+v of a single moment", r)
	}
	w.Add(5*time.Second, good.Message()) // a clock that goes back
	w.Add(6*time.Second, good.Message())
	if r := traffic.Lately(6*time.Second, &w); r.Over != time.Second || r.PerSecond != 0 {
		t.Errorf("%+v", r)
	}
}

func BenchmarkCount(b *testing.B) {
	var c traffic.Counter
	b.RunParallel(func(p *testing.PB) {
		for i := 0; p.Next(); i++ {
			c.Count(time.Duration(i)*time.Microsecond, true, nil)
		}
	})
}
