package executions

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"adshard/bench/layouts"
	"adshard/bench/paired"
	"adshard/fault"
	"adshard/internal/outfile"
)

// Run measures what the plan says. A layout that lacks something on this machine
// (fault.Unavailable) is left out, and the report says so. Any other error, or a layout
// with wrong answers, ends the run.
func Run(ctx context.Context, p *Plan) (*Report, error) {
	if err := p.validate(); err != nil {
		return nil, err
	}
	r := &run{plan: p, clock: paired.ClockCost(), found: make(map[int][]layouts.Found), begin: make(map[int][]float64),
		report: &Report{Keywords: p.Keywords, Times: p.Times, Limit: p.Limit.Seconds(), Seed: p.Seed, Absent: map[string]string{}}}
	for _, slaves := range allSlaves {
		if err := r.count(ctx, slaves); err != nil {
			return nil, err
		}
	}
	var err error
	if r.asked, err = p.choose(r.found); err != nil {
		return nil, err
	}
	r.report.Queries = r.tell()
	for _, g := range grouped(p.Setups) {
		if err := r.measure(ctx, g); err != nil {
			return nil, err
		}
	}
	return r.report, nil
}

// run is a run in progress.
type run struct {
	plan  *Plan
	clock time.Duration // what reading the clock costs
	// found is what each query of the log finds, by number of slaves; begin is how many
	// keywords begin with one of its words.
	found  map[int][]layouts.Found
	begin  map[int][]float64
	asked  map[string]sequence
	report *Report
}

// count finds what the log's queries match among the keywords of a number of slaves.
func (r *run) count(ctx context.Context, slaves int) error {
	set, err := r.plan.Set(ctx, keywordsOf(slaves, r.plan.Keywords))
	if err != nil {
		return err
	}
	r.plan.progress(fmt.Sprintf("counting matches, %dS", slaves), -1)
	r.found[slaves], err = paired.Truth(ctx, set, nil, r.plan.Log)
	r.begin[slaves] = beginning(set, r.plan.Log)
	return err
}

// beginning returns, for each query, how many keywords begin with one of its words.
func beginning(set *layouts.Set, queries []*layouts.Query) []float64 {
	first := make(map[string]float64)
	for i := range set.Len() {
		first[set.Words[set.Of(i)[0]]]++
	}
	out := make([]float64, len(queries))
	for i, q := range queries {
		for _, w := range q.Words {
			out[i] += first[w]
		}
	}
	return out
}

// tell returns what the queries match.
func (r *run) tell() (out []Asked) {
	for _, name := range []string{sq1, sq2, rq1600} {
		a := Asked{Name: name, Matches: make(map[string]float64), Begin: make(map[string]float64), None: make(map[string]float64)}
		for _, slaves := range allSlaves {
			sum, begin, none := 0.0, 0.0, 0.0
			for _, q := range r.asked[name].queries {
				begin += r.begin[slaves][q]
				if n := float64(r.found[slaves][q].Matches); n > 0 {
					sum += n
				} else {
					none++
				}
			}
			n, at := float64(len(r.asked[name].queries)), fmt.Sprintf("%dS", slaves)
			a.Matches[at], a.Begin[at], a.None[at] = rounded(sum/n), rounded(begin/n), rounded(none/n)
		}
		out = append(out, a)
	}
	return out
}

// group is a set of setups that are measured on the same built layouts.
type group struct {
	slaves int
	share  float64
	setups []Setup
}

// grouped groups the setups by what is built for them, in the order in which they first
// occur.
func grouped(list []Setup) (out []group) {
	at := make(map[string]int)
	for _, s := range list {
		key := fmt.Sprint(s.slaves, s.share())
		i, ok := at[key]
		if !ok {
			i = len(out)
			at[key], out = i, append(out, group{slaves: s.slaves, share: s.share()})
		}
		out[i].setups = append(out[i].setups, s)
	}
	return out
}

// measure measures each layout on the setups of a group.
func (r *run) measure(ctx context.Context, g group) error {
	set, err := r.plan.Set(ctx, keywordsOf(g.slaves, r.plan.Keywords))
	if err != nil {
		return err
	}
	for i, l := range r.plan.Layouts {
		dir := filepath.Join(r.plan.Dir, fmt.Sprintf("%dS-%02d", g.slaves, i))
		err := r.layout(ctx, l, set, g, dir)
		if fault.Is(err, fault.Unavailable) {
			r.report.Absent[l.Name()] = err.Error()
			r.plan.progress(l.Name()+" is left out: "+err.Error(), -1)
			continue
		}
		if err != nil {
			return fmt.Errorf("%s, %dS: %w", l.Name(), g.slaves, err)
		}
	}
	return nil
}

// layout builds one layout, measures it and removes it.
func (r *run) layout(ctx context.Context, l layouts.Layout, set *layouts.Set, g group, dir string) (err error) {
	store, cache, err := r.build(ctx, l, set, g, dir)
	if err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	defer func() { err = errors.Join(err, store.Close(), os.RemoveAll(dir)) }()
	size, err := store.Size()
	if err != nil {
		return err
	}
	var list []Outcome
	for n := range r.plan.Runs {
		for i := range g.setups {
			s := &g.setups[i]
			times, err := r.times(ctx, l, store, s, dir)
			if err != nil {
				return fmt.Errorf("setup %s: %w", s.Name, err)
			}
			box := boxOf(times[len(times)/2:])
			list = append(list, Outcome{
				Setup: s.Name, Layout: l.Name(), Medians: map[int]float64{n + 1: box.Median}, Keywords: set.Len(), Executions: len(times), Box: box,
				Course: courseOf(times), Cost: r.cost(s, times), Disk: rounded(float64(size.Disk) / float64(set.Len())), Cache: rounded(float64(cache) / float64(set.Len())),
			})
		}
	}
	r.report.Outcomes = append(r.report.Outcomes, merged(list)...)
	return nil
}

// build builds a layout with the memory of the group. How much that is shows only after
// it has been built once.
func (r *run) build(ctx context.Context, l layouts.Layout, set *layouts.Set, g group, dir string) (_ layouts.Store, cache uint64, err error) {
	once := func(cache uint64) (layouts.Store, error) {
		if err := outfile.MakeDir(dir); err != nil {
			return nil, err
		}
		what := fmt.Sprintf("building %s, %dS", l.Name(), g.slaves)
		return l.Build(ctx, set, layouts.Options{Dir: dir, CacheBytes: cache, Progress: func(done float64) { r.plan.progress(what, done) }})
	}
	if g.share == 0 {
		store, err := once(0)
		return store, 0, err
	}
	store, err := once(1)
	if err != nil {
		return nil, 0, err
	}
	size, err := store.Size()
	if err := errors.Join(err, store.Close(), os.RemoveAll(dir)); err != nil {
		return nil, 0, err
	}
	// The cache holds uncompressed data.
	cache = max(1, uint64(g.share*float64(max(size.Raw, size.Disk))))
	store, err = once(cache)
	return store, cache, err
}

// times executes a setup's queries and returns how long each took, in µs.
func (r *run) times(ctx context.Context, l layouts.Layout, store layouts.Store, s *Setup, dir string) (_ []float64, err error) {
	searcher, err := store.Searcher()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, searcher.Close()) }()
	// Go's own work (garbage collection) is part of the measured work: one processor, and
	// another for dropping pages.
	processors := 1
	if s.share() > 0 {
		processors = 2
		stop, failed := paired.KeepCold(dir)
		if failed != nil {
			return nil, failed
		}
		defer func() { err = errors.Join(err, stop()) }()
	}
	runtime.GC() // garbage from building must not count for the searches
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
	return r.execute(ctx, searcher, l.Provides(), s, fmt.Sprintf("measuring %s, %s", l.Name(), s.Name))
}

// tellEvery is the time between two reports of progress.
const tellEvery = time.Second

func (r *run) execute(ctx context.Context, searcher layouts.Searcher, provides layouts.Provides, s *Setup, what string) ([]float64, error) {
	a, found := r.asked[s.asked], r.found[s.slaves]
	out := make([]float64, 0, len(a.order))
	began := time.Now()
	for next := began; len(out) < len(a.order); {
		at := a.queries[a.order[len(out)]]
		q, right := r.plan.Log[at], found[at]
		start := time.Now()
		f, err := searcher.Search(ctx, q)
		end := time.Now()
		if err != nil {
			return nil, fmt.Errorf("query %q: %w", q.Text, err)
		}
		if provides.Matches && f.Matches != right.Matches || provides.Sum && f.Sum != right.Sum {
			return nil, fmt.Errorf("query %q: it finds %d keywords (sum of ids %d) where %d match (%d)", q.Text, f.Matches, f.Sum, right.Matches, right.Sum)
		}
		out = append(out, float64(max(1, end.Sub(start)-r.clock))/float64(time.Microsecond))
		if end.Sub(next) > tellEvery {
			next = end
			r.plan.progress(what, float64(len(out))/float64(len(a.order)))
		}
		if r.plan.Limit > 0 && end.Sub(began) > r.plan.Limit && len(out) > 1 {
			break
		}
	}
	return out, nil
}
