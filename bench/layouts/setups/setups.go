package setups

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"adshard/bench/layouts"
	"adshard/bench/layouts/inmemory"
	"adshard/fault"
	"adshard/internal/corpus"
)

// Options says what to make.
type Options struct {
	// Queries is the largest number of queries of a setup, except for setups whose
	// number the thesis gives; 0: 2000.
	Queries int
	Seed    uint64
}

// random is the number of queries of RQ1600.
const random = 1600

// Names returns the names of all setups, in the order in which Make gives them.
func Names() []string {
	return []string{
		"log", "words 1", "words 2", "words 4", "words 8", "words 16", "words 32",
		"matches 0", "matches 10", "matches 1000", "matches 10000", "matches 100000",
		"four 30", "four 3000", "four 30000", "hot", "stop", "SQ", "SQ2", "RQ1600",
	}
}

// Log returns the queries of corpus.WriteQueries for the options, without those
// that have no word.
func Log(c *corpus.Corpus, o corpus.Options) ([]*layouts.Query, error) {
	var log strings.Builder
	if _, err := c.WriteQueries(&log, o); err != nil {
		return nil, err
	}
	return layouts.NewQueries(strings.Split(log.String(), "\n")), nil
}

// Lacking names a setup that cannot be made for these keywords, and says why.
type Lacking struct{ Name, Why string }

// Make makes all setups for which the keywords have queries, in the order of
// Names. Setups that promise a number of matches that no query has are returned
// as lacking. Make returns fault.Invalid if the log or the set is empty.
func Make(ctx context.Context, set *layouts.Set, log []*layouts.Query, o Options) (_ []layouts.Setup, _ []Lacking, err error) {
	if len(log) == 0 || set.Len() == 0 {
		return nil, nil, fault.Newf(fault.Invalid, "setups: make", "%d queries in the log, %d keywords: there must be some of both", len(log), set.Len())
	}
	if o.Queries <= 0 {
		o.Queries = 2000
	}
	store, err := inmemory.Floor{}.Build(ctx, set, layouts.Options{})
	if err != nil {
		return nil, nil, err
	}
	searcher, err := store.Searcher()
	if err != nil {
		return nil, nil, errors.Join(err, store.Close())
	}
	defer func() { err = errors.Join(err, searcher.Close(), store.Close()) }()
	m := &maker{ctx: ctx, set: set, log: log, searcher: searcher, n: o.Queries,
		dice: rand.New(rand.NewPCG(o.Seed, 1))}
	for _, w := range set.Commonest(common) {
		m.common, m.often = append(m.common, set.Words[w]), append(m.often, set.Counts[w])
	}
	all := slices.DeleteFunc(m.all(), func(s layouts.Setup) bool { return len(s.Queries) == 0 })
	return all, m.lacking, m.err
}

// common is the number of commonest words that are used.
const common = 4096

// maker makes setups until the first error.
type maker struct {
	ctx      context.Context
	set      *layouts.Set
	log      []*layouts.Query
	common   []string // words, commonest first
	often    []uint32 // how many keywords have each
	searcher layouts.Searcher
	dice     *rand.Rand
	n        int
	lacking  []Lacking
	err      error
}

func (m *maker) all() []layouts.Setup {
	out := []layouts.Setup{{Name: "log", Queries: m.log[:min(m.n, len(m.log))]}}
	for n := 1; n <= 32; n *= 2 {
		out = append(out, m.setup(fmt.Sprintf("words %d", n), func() []string { return m.joined(n) }))
	}
	out = append(out, m.matching(0), m.matching(10), m.matching(1000), m.matching(10_000), m.matching(100_000))
	out = append(out, m.four(30), m.four(3000), m.four(30_000))
	out = append(out, m.setup("hot", m.hot))
	stop := m.query(m.common[:min(32, len(m.common))])
	out = append(out, layouts.Setup{Name: "stop", Queries: []*layouts.Query{stop}})
	out = append(out, m.nearest("SQ", 2), m.nearest("SQ2", 136))
	some := make([]*layouts.Query, random)
	for i := range some {
		some[i] = m.any()
	}
	return append(out, layouts.Setup{Name: "RQ1600", Queries: some})
}

// setup returns a setup of n queries made from words.
func (m *maker) setup(name string, words func() []string) layouts.Setup {
	s := layouts.Setup{Name: name, Queries: make([]*layouts.Query, m.n)}
	for i := range s.Queries {
		s.Queries[i] = m.query(words())
	}
	return s
}

// query makes a query from normalised words.
func (m *maker) query(words []string) *layouts.Query {
	q, err := layouts.NewQuery(clipped(words))
	if err != nil {
		m.err = errors.Join(m.err, err)
	}
	return q
}

// clipped joins as many of the words as fit into a query.
func clipped(words []string) string {
	text := ""
	for _, w := range words {
		if len(text)+len(w) < maxText {
			text = strings.TrimSpace(text + " " + w)
		}
	}
	return text
}

func (m *maker) any() *layouts.Query { return m.log[m.dice.IntN(len(m.log))] }

// hot returns some of the 64 commonest words.
func (m *maker) hot() []string {
	var words []string
	for range 2 + m.dice.IntN(3) {
		words = add(words, m.common[m.dice.IntN(min(64, len(m.common)))])
	}
	return words
}
