package layouttest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"adshard/bench/layouts"
	"adshard/fault"
	"adshard/internal/corpus"
)

// Run tests a layout against its contract, with small random sets and 10,000 keywords of the
// extract. It skips what the machine lacks the means for.
func Run(t *testing.T, l layouts.Layout) {
	much := effort{random: 15, hard: 10_000}
	if testing.Short() {
		much.random = 5
	}
	run(t, l, much)
}

// RunSlow is Run for a layout that takes a second to build even for the smallest set, because
// it starts a server. It uses fewer random sets and smaller hard ones.
func RunSlow(t *testing.T, l layouts.Layout) { run(t, l, effort{random: 3, hard: 1000}) }

// effort is the number of random sets, and the number of keywords in the hard ones.
type effort struct {
	random int
	hard   int64
}

func run(t *testing.T, l layouts.Layout, much effort) {
	if l.Name() == "" || l.Provides() == (layouts.Provides{}) {
		t.Errorf("the layout is called %q and provides %+v", l.Name(), l.Provides())
	}
	t.Run("random", func(t *testing.T) {
		for i := range much.random {
			s := sets.Example(i)
			r := open(t, l, s)
			texts := queries.Example(i)
			for j := range min(20, s.Len()) {
				texts = append(texts, string(s.Text(nil, j)))
			}
			r.check(layouts.NewQueries(texts))
			r.change(layouts.NewQueries(texts), 5)
			r.close()
		}
	})
	t.Run("corpus", func(t *testing.T) {
		s, texts := fromExtract(t, 10_000)
		asked := layouts.NewQueries(texts)
		r := open(t, l, s)
		r.check(append(asked, special(t, s)...))
		r.together(asked)
		r.cancelled(asked[0])
		r.change(asked, 3)
		r.sized()
		r.close()
	})
	t.Run("hard", func(t *testing.T) {
		s, texts := fromExtract(t, much.hard)
		for _, hard := range hardSets(s) {
			r := open(t, l, hard)
			r.check(append(layouts.NewQueries(texts[:50]), special(t, hard)...))
			r.close()
		}
	})
	t.Run("cancelled build", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if st, err := l.Build(ctx, sets.Example(1), layouts.Options{Dir: t.TempDir()}); err == nil {
			t.Error("was built though it was cancelled", st.Close())
		}
	})
}

// Small returns a set of the given number of keywords of the extract, and queries of its log,
// for tests of one layout.
func Small(t *testing.T, keywords int64) (*layouts.Set, []*layouts.Query) {
	t.Helper()
	s, texts := fromExtract(t, keywords)
	return s, layouts.NewQueries(texts)
}

// fromExtract returns a set of the given number of keywords of the extract, and texts of
// queries of its log.
func fromExtract(t *testing.T, keywords int64) (*layouts.Set, []string) {
	t.Helper()
	c, err := corpus.Open(corpus.Extract())
	if err != nil {
		t.Fatal(err)
	}
	o := corpus.Options{Keywords: keywords, Queries: 200, Seed: 1}
	s, err := layouts.FromCorpus(context.Background(), c, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	if _, err := c.WriteQueries(&log, o); err != nil {
		t.Fatal(err)
	}
	texts := strings.Split(strings.TrimSpace(log.String()), "\n")
	for i := 0; i < s.Len(); i += 97 {
		texts = append(texts, string(s.Text(nil, i)))
	}
	return s, texts
}

// special returns extreme queries: without words, with one unknown word, with each of the
// commonest words, with 32 common words.
func special(t *testing.T, s *layouts.Set) []*layouts.Query {
	t.Helper()
	var common []string
	for _, w := range s.Commonest(40) {
		common = append(common, s.Words[w])
	}
	texts := append([]string{"", "?!", "nobodysaysthis"}, common[:min(8, len(common))]...)
	for n := 1; n <= min(32, len(common)); n *= 2 {
		texts = append(texts, strings.Join(common[:n], " "), strings.Join(common[len(common)-n:], " "))
	}
	var out []*layouts.Query
	for _, text := range texts {
		q, err := layouts.NewQuery(text)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, q)
	}
	return out
}

// opened is a layout built from a set, with an oracle for the same set.
type opened struct {
	t        *testing.T
	set      *layouts.Set
	provides layouts.Provides
	store    layouts.Store
	searcher layouts.Searcher
	oracle   *Oracle
}

func open(t *testing.T, l layouts.Layout, s *layouts.Set) *opened {
	t.Helper()
	r := &opened{t: t, set: s, provides: l.Provides(), oracle: NewOracle(s)}
	last := 0.0
	progress := func(done float64) {
		if done < last || done > 1 {
			t.Errorf("progress is %v after %v", done, last)
		}
		last = done
	}
	var err error
	r.store, err = l.Build(context.Background(), s, layouts.Options{Dir: t.TempDir(), Progress: progress})
	if fault.KindOf(err) == fault.Unavailable {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if r.searcher, err = r.store.Searcher(); err != nil {
		t.Fatal(errors.Join(err, r.store.Close()))
	}
	return r
}

func (r *opened) close() {
	r.t.Helper()
	if err := errors.Join(r.searcher.Close(), r.store.Close()); err != nil {
		r.t.Fatal(err)
	}
}

// check compares answers with the oracle's.
func (r *opened) check(asked []*layouts.Query) {
	r.t.Helper()
	for _, q := range asked {
		got, err := r.searcher.Search(context.Background(), q)
		if err != nil {
			r.t.Fatalf("%q: %v", q.Text, err)
		}
		if want := told(r.provides, r.oracle.Found(q)); !equal(told(r.provides, got), want) {
			r.t.Fatalf("%q: found %+v, want %+v", q.Text, got, want)
		}
	}
}

// told returns the fields of an answer that a layout has to report.
func told(t layouts.Provides, f layouts.Found) layouts.Found {
	if !t.Matches {
		f.Matches = 0
	}
	if !t.Sum {
		f.Sum = 0
	}
	if !t.Best {
		f.Best = nil
	}
	return f
}

func equal(a, b layouts.Found) bool {
	return a.Matches == b.Matches && a.Sum == b.Sum && slices.Equal(a.Best, b.Best)
}

// together runs several searchers at the same time. Each must get the answers that a single
// one gets.
func (r *opened) together(asked []*layouts.Query) {
	r.t.Helper()
	want := make([]layouts.Found, len(asked))
	for i, q := range asked {
		want[i] = told(r.provides, r.oracle.Found(q))
	}
	var wait sync.WaitGroup
	for n := range 4 {
		wait.Go(func() {
			s, err := r.store.Searcher()
			if err != nil {
				r.t.Error(err)
				return
			}
			for i := range asked {
				at := (i + n*len(asked)/4) % len(asked)
				got, err := s.Search(context.Background(), asked[at])
				if err != nil || !equal(told(r.provides, got), want[at]) {
					r.t.Errorf("%q beside others: found %+v, %v, want %+v", asked[at].Text, got, err, want[at])
					break
				}
			}
			if err := s.Close(); err != nil {
				r.t.Error(err)
			}
		})
	}
	wait.Wait()
}

// cancelled checks that a search returns an error if its context is done.
func (r *opened) cancelled(q *layouts.Query) {
	r.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := r.searcher.Search(ctx, q); fault.KindOf(err) != fault.Cancelled {
		r.t.Errorf("a search that was cancelled: %v, want an error of kind %v", err, fault.Cancelled)
	}
	r.check([]*layouts.Query{q}) // later searches work
}

func (r *opened) sized() {
	r.t.Helper()
	size, err := r.store.Size()
	if err != nil || size.Disk+size.Memory == 0 || size.Matching > size.Disk {
		r.t.Errorf("its size is %+v, %v", size, err)
	}
}

// change changes keywords several times while another searcher searches, and checks that the
// answers then are those of the changed set. It does nothing if the layout is no Changer.
func (r *opened) change(asked []*layouts.Query, times int) {
	r.t.Helper()
	c, ok := r.store.(layouts.Changer)
	if !ok {
		return
	}
	stop := r.searching(asked)
	for i := range times {
		to := changes(r.set.Len()).Example(i)
		r.oracle.Change(to)
		if err := c.Change(context.Background(), to); err != nil {
			r.t.Error(err)
		}
		r.check(asked[:min(5, len(asked))])
	}
	stop()
	r.check(asked)
}

// searching searches in the background until it is stopped; it checks only for errors.
func (r *opened) searching(asked []*layouts.Query) (stop func()) {
	s, err := r.store.Searcher()
	if err != nil {
		r.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	wait.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			if _, err := s.Search(context.Background(), asked[i%len(asked)]); err != nil {
				r.t.Errorf("a search beside a change: %v", err)
				break
			}
		}
		if err := s.Close(); err != nil {
			r.t.Error(err)
		}
	})
	return func() {
		cancel()
		wait.Wait()
	}
}
