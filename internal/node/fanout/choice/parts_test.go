package choice

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"adshard/search"
)

// TestBudget: in any sequence of calls, no more is spent than the sum of the burst, the share of the calls so far, and the rate times
// the time passed.
func TestBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		share := rapid.Float64Range(0.01, 1).Draw(t, "share")
		rate := rapid.Float64Range(0, 100).Draw(t, "rate")
		b := newBudget(share, 10, rate)
		earned, spent, now := 0, 0, time.Duration(0)
		for _, spend := range rapid.SliceOfN(rapid.Bool(), 0, 500).Draw(t, "spend") {
			switch {
			case !spend:
				now += time.Duration(rapid.IntRange(-1, 100).Draw(t, "ms")) * time.Millisecond
				b.earn(max(now, 0))
				earned++
			case b.spend():
				spent++
			}
			if float64(spent) > 10+share*float64(earned)+rate*b.at.Seconds()+1e-6 {
				t.Fatalf("%d spent after %d calls in %v", spent, earned, b.at)
			}
		}
		if rate > 1 && rapid.Bool().Draw(t, "time") {
			b.earn(b.at + time.Duration(10/rate*float64(time.Second)))
		} else {
			for range int(10/share) + 1 {
				b.earn(now)
			}
		}
		for i := range 9 {
			if !b.spend() {
				t.Fatalf("%d spent after a pause", i)
			}
		}
	})
}

// TestUsual compares with a sorted list: the time is at least that of the list, and at most an
// eighth above it.
func TestUsual(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var u usual
		list := rapid.SliceOfN(rapid.Int64Range(1, 100_000_000), enoughTimes, remembered-1).Draw(t, "µs")
		for i, us := range list {
			if i == enoughTimes-1 && u.within(950) != 0 {
				t.Fatal("known too early")
			}
			u.observe(time.Duration(us) * time.Microsecond)
		}
		slices.Sort(list)
		permille := rapid.SampledFrom([]uint32{500, 900, 950, 990}).Draw(t, "permille")
		at := len(list) - (len(list) - len(list)*int(permille)/1000)
		want := time.Duration(list[min(at, len(list)-1)]) * time.Microsecond
		if got := u.within(permille); got < want || got > want+want/8+2*time.Microsecond {
			t.Fatalf("%d ‰ of %d within %v, want %v", permille, len(list), got, want)
		}
	})
}

// TestUsualForgets: times from thousands of calls ago have no influence.
func TestUsualForgets(t *testing.T) {
	var u usual
	for range 4 * remembered {
		u.observe(time.Second)
	}
	for range 8 * remembered {
		u.observe(time.Millisecond)
	}
	if got := u.within(950); got > 2*time.Millisecond {
		t.Errorf("%v is still usual", got)
	}
	u.observe(time.Hour) // the class of the longest times
	u.observe(0)
}

// TestSmoothed: the value rises at once, falls slowly, also without observations, and never exceeds
// what was observed.
func TestSmoothed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s smoothed
		now, most := time.Duration(0), time.Duration(0)
		for range rapid.IntRange(1, 50).Draw(t, "calls") {
			now += time.Duration(rapid.Int64Range(0, int64(2*time.Second)).Draw(t, "pause"))
			took := time.Duration(rapid.Int64Range(int64(leastTime), int64(time.Second)).Draw(t, "took"))
			before := s.now(now)
			s.observe(now, took)
			most = max(most, took)
			got := s.now(now)
			if got > most || got < min(before, took) || took > before && got < took {
				t.Fatalf("%v after %v and %v", got, before, took)
			}
			if later := s.now(now + memory); later > got || later < leastTime {
				t.Fatalf("%v, and %v later", got, later)
			}
		}
		if s.now(now+time.Minute) != leastTime {
			t.Fatal("it does not fall")
		}
	})
	var none smoothed
	if none.now(time.Hour) != 0 {
		t.Error("something is known of nothing")
	}
}

// query returns a query of words, each with the given terms.
func query(words ...[]uint64) *search.Query {
	q := &search.Query{Words: make([]search.Word, len(words))}
	for i, terms := range words {
		for _, term := range terms {
			q.Terms = append(q.Terms, search.QueryTerm{Term: term, Senses: []search.Sense{{Word: uint16(i)}}})
		}
	}
	return q
}

// TestTopics: the topic is the rarest known word. A word is represented by the most frequent of its
// terms, and synonyms are ignored.
func TestTopics(t *testing.T) {
	var topics Topics
	if topic := topics.Of(query([]uint64{1, 2})); topic != 0 {
		t.Fatalf("a topic of a query that was never asked: %d", topic)
	}
	for range 1000 {
		topics.Of(query([]uint64{10, 11})) // shoe and its stem
	}
	for range 1000 {
		topics.Of(query([]uint64{12, 11})) // shoes
	}
	for range 30 {
		topics.Of(query([]uint64{20}, []uint64{12, 11})) // red shoes
	}
	for name, c := range map[string]struct {
		q    *search.Query
		want uint64
	}{
		"the only one":        {query([]uint64{12, 11}), 11},
		"the rarer one":       {query([]uint64{10, 11}, []uint64{20}), 20},
		"not one unheard of":  {query([]uint64{10, 11}, []uint64{99}), 11},
		"nothing of nothing":  {query(), 0},
		"one that is unknown": {query([]uint64{98}), 0},
	} {
		if got := topics.Of(c.q); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
	q := query([]uint64{12, 11})
	q.Terms = append(q.Terms, search.QueryTerm{Term: 20, Senses: []search.Sense{{Word: 0, Synonym: 7}}})
	if got := topics.Of(q); got != 11 {
		t.Errorf("a synonym is the topic: %d", got)
	}
	q = query([]uint64{12, 11})
	q.Runs = make([]search.Run, 1)
	q.Terms = append(q.Terms, search.QueryTerm{Term: 20, Senses: []search.Sense{{Word: 1}}})
	if got := topics.Of(q); got != 11 {
		t.Errorf("a run is the topic: %d", got)
	}
	topics.age()
	topics.age()
	topics.age()
	topics.age()
	if got := topics.Of(query([]uint64{20})); got != 0 {
		t.Errorf("%d is known for good", got)
	}
}
