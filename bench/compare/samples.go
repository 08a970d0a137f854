package compare

import (
	"math/rand/v2"
	"sort"
	"time"

	"adshard/balance"
	balanceload "adshard/balance/load"
	"adshard/barrels/load"
	"adshard/bench/trace"
)

// samples simulates what a balancer knows about topics: what slaves would have
// sampled of randomly asked queries, with one report per second. Each slave takes
// one posting in load.SampleShare of every search, and reports at most
// load.PairReport postings per second.
type samples struct {
	t       *trace.Trace
	o       *StudyOptions
	sums    []float64 // of the queries' weights
	table   *balanceload.Table
	rand    *rand.Rand
	played  uint64 // iterations
	number  uint64 // of the last report
	slaves  []reservoir
	pairs   int // in the reports of all slaves
	reports int
}

// reservoir is a slave's sample of a second: pairs of term and item with how often
// each was taken, like the slaves' own (load.Counter).
type reservoir struct {
	list []balanceload.PairCost
	seen uint64
	skip int // postings until the next one that is taken
}

func newSamples(t *trace.Trace, o *StudyOptions, queries []float64) *samples {
	s := &samples{
		t: t, o: o, table: balanceload.NewTable(balanceload.Weights{Examined: 1}, 0),
		rand: rand.New(rand.NewPCG(o.Seed, 7)),
	}
	s.ask(queries)
	return s
}

// ask changes the queries that are asked from now on.
func (s *samples) ask(queries []float64) {
	s.sums = make([]float64, len(queries))
	sum := 0.0
	for q, share := range queries {
		sum += share
		s.sums[q] = sum
	}
}

// learn asks queries for the half-life of a sample.
func (s *samples) learn(in *balance.Input) { s.play(in, balanceload.PairHalfLife) }

// topics implements balance.Input.Topics: it returns what is known in the input's
// iteration.
func (s *samples) topics(in *balance.Input) []balance.Topic {
	if missed := in.Iteration + 1 - s.played; s.played <= in.Iteration {
		s.play(in, time.Duration(missed)*s.o.Interval)
		s.played = in.Iteration + 1
	}
	s.table.Model(in.Model, in.Items)
	return s.table.HotTopics()
}

// play simulates queries for some time.
func (s *samples) play(in *balance.Input, lasts time.Duration) {
	for len(s.slaves) < len(in.Model.Shards()) {
		s.slaves = append(s.slaves, reservoir{})
	}
	owner := Place(s.t, in.Model).Owner
	for range int(lasts.Seconds()) {
		s.second(in.Model, owner)
	}
}

// asked reports whether the strategy looks at topics.
func (s *samples) asked() bool { return s != nil && s.reports > 0 }

// mean returns how many pairs a slave reported per second.
func (s *samples) mean() float64 { return float64(s.pairs) / float64(max(1, s.reports)) }

// second simulates one second of queries and each slave's report.
func (s *samples) second(m *balance.Model, owner []uint16) {
	asked := int(s.o.Rate)
	if s.rand.Float64() < s.o.Rate-float64(asked) {
		asked++
	}
	for range asked {
		at := s.rand.Float64() * s.sums[len(s.sums)-1]
		s.search(sort.Search(len(s.sums)-1, func(i int) bool { return s.sums[i] > at }), owner)
	}
	s.number++
	for i, sh := range m.Shards() {
		r := balanceload.Report{Incarnation: "x", Number: s.number, Interval: time.Second, Queries: uint64(asked), Pairs: s.slaves[i].take()}
		s.table.Report(0, sh.ID, m, &r)
		s.pairs, s.reports = s.pairs+len(r.Pairs), s.reports+1
	}
}

// search makes the slaves sample a query.
func (s *samples) search(q int, owner []uint16) {
	for i := range s.slaves {
		s.slaves[i].skip = s.rand.IntN(load.SampleShare)
	}
	for _, term := range s.t.Topics.Query(q) {
		s.t.Topics.Term(term, func(item, postings uint32) {
			r := &s.slaves[owner[item]]
			for r.skip -= int(postings); r.skip < 0; r.skip += load.SampleShare {
				r.add(s.rand, balanceload.PairCost{
					Term: s.t.Topics.Terms[term], Key: s.t.Keys[item], Cost: balanceload.Cost{Examined: load.SampleShare},
				})
			}
		})
	}
}

func (r *reservoir) add(random *rand.Rand, c balanceload.PairCost) {
	r.seen++
	if len(r.list) < load.PairReport {
		r.list = append(r.list, c)
	} else if at := random.Uint64N(r.seen); at < load.PairReport {
		r.list[at] = c
	}
}

// take returns the sample, with each pair once, and clears it.
func (r *reservoir) take() (out []balanceload.PairCost) {
	type pair struct {
		term uint64
		key  balance.Key
	}
	at := make(map[pair]int)
	for _, c := range r.list {
		c.Examined = c.Examined * r.seen / uint64(len(r.list))
		p := pair{c.Term, c.Key}
		if i, ok := at[p]; ok {
			out[i].Examined += c.Examined
			continue
		}
		at[p] = len(out)
		out = append(out, c)
	}
	r.list, r.seen = r.list[:0], 0
	return out
}
