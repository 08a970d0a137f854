package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"adshard/barrels"
	"adshard/barrels/kv"
	"adshard/barrels/rocks"
	"adshard/bench/measure"
	"adshard/bench/replicas"
	"adshard/search"
)

type replicasFlags struct {
	barrels, queries  string
	replicas, workers int
	part, stalls      float64
	stall             time.Duration
	output
}

// ReplicasCommand returns the subcommand replicas, which measures the choice of a replica.
func ReplicasCommand() *cobra.Command {
	var f replicasFlags
	c := &cobra.Command{
		Use:   "replicas --barrels DIR --queries FILE",
		Short: "Measure what topics save of reading, and what hedges do to slow answers",
		Long: `Opens one store as several replicas, each with caches of its own that hold a part of
the data, and asks the queries of the file: once to warm up, then under the clock.

Topics: the posting lists that are read since the replica's cache has them not, when
replicas are preferred by topic and when they are not.
Hedges: the slowest answers, when some searches stall at random, with a second replica
asked as a master does it, and without; and how many more calls that makes.
The store must not be open elsewhere: stop the slave that uses it.`,
		Example: `  adbench build --keywords 430000 --out store
  adbench corpus --queries queries.txt --out corpus
  adbench replicas --barrels store --queries queries.txt --replicas 4 --part 0.25`,
		Args: func(c *cobra.Command, args []string) error {
			return errors.Join(f.output.check(f.queries), cobra.NoArgs(c, args))
		},
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c.Context(), c.OutOrStdout()) },
	}
	flags := c.Flags()
	flags.StringVar(&f.barrels, "barrels", "", "the store's directory (required)")
	flags.StringVar(&f.queries, "queries", "", "file of queries, one a line (required)")
	flags.IntVar(&f.replicas, "replicas", 4, "replicas, 2 to 16")
	flags.IntVar(&f.workers, "workers", 4, "queries under way")
	flags.Float64Var(&f.part, "part", 0.25, "the part of the posting lists that a replica's cache holds")
	flags.DurationVar(&f.stall, "stall", 20*time.Millisecond, "how long a search stalls")
	flags.Float64Var(&f.stalls, "stalls", 0.01, "the share of the searches that stall")
	f.output.flags(c)
	return c
}

func (f *replicasFlags) run(ctx context.Context, out io.Writer) (err error) {
	if f.replicas < 2 || f.replicas > 16 || f.workers < 1 || f.workers > 1024 || f.part <= 0 || f.part > 1 || f.stalls < 0 || f.stalls > 1 {
		return errors.New("--replicas is 2 to 16, --workers 1 to 1024, --part and --stalls are shares up to 1")
	}
	queries, err := f.expanded()
	if err != nil {
		return err
	}
	if err := thereIsAStore(f.barrels); err != nil {
		return err
	}
	report := newReport("replicas")
	db, err := rocks.Open(f.barrels, rocks.Options{CacheBytes: 8 << 20})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	cache, err := f.cacheBytes(ctx, db, queries, report)
	if err != nil {
		return err
	}
	for _, topics := range []bool{false, true} {
		if err := f.topics(ctx, db, cache, queries, topics, report); err != nil {
			return err
		}
	}
	if err := f.hedges(ctx, db, queries, report); err != nil {
		return err
	}
	return f.write(out, report)
}

// expanded reads the queries and expands them.
func (f *replicasFlags) expanded() (list []*search.Query, err error) {
	texts, err := readQueries(f.queries)
	if err != nil {
		return nil, err
	}
	for _, text := range texts {
		q, err := search.Expand(text, search.Synonym, nil)
		if err == nil {
			list = append(list, q)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("--queries: %s has no query", f.queries)
	}
	return list, nil
}

// cacheBytes is what a store gets so that its lists have room for their part of those
// that the queries need: half of what is left after terms and parents.
func (f *replicasFlags) cacheBytes(ctx context.Context, db kv.DB, queries []*search.Query, report *measure.Report) (uint64, error) {
	store, err := barrels.Open(&replicas.Counting{DB: db}, barrels.Options{CacheBytes: 1 << 40})
	if err != nil {
		return 0, err
	}
	p := replicas.Plan{Slaves: []replicas.Slave{store, store}, Queries: queries, Workers: f.workers}
	_, err = p.Chosen(ctx)
	m := store.Stats().Memory
	report.Add("posting lists, all that the queries need", "bytes", float64(m.Lists))
	return m.Terms + m.Parents + uint64(2*f.part*float64(m.Lists)), errors.Join(err, store.Close())
}

// topics measures what is read.
func (f *replicasFlags) topics(ctx context.Context, db kv.DB, cache uint64, queries []*search.Query, topics bool, report *measure.Report) (err error) {
	p := replicas.Plan{Queries: queries, Workers: f.workers, Topics: topics}
	var counts []*replicas.Counting
	for range f.replicas {
		counting := &replicas.Counting{DB: db}
		store, err := barrels.Open(counting, barrels.Options{CacheBytes: cache})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, store.Close()) }()
		p.Slaves, counts = append(p.Slaves, store), append(counts, counting)
	}
	if _, err := p.Chosen(ctx); err != nil { // the warm-up
		return err
	}
	var lists, bytes uint64
	for _, c := range counts {
		lists, bytes = lists-c.Lists(), bytes-c.Bytes()
	}
	o, err := p.Chosen(ctx)
	if err != nil {
		return err
	}
	for _, c := range counts {
		lists, bytes = lists+c.Lists(), bytes+c.Bytes()
	}
	name := map[bool]string{false: "without topics", true: "with topics"}[topics]
	n := float64(len(queries))
	report.Add(name+": lists read", "per query", float64(lists)/n)
	report.Add(name+": bytes read", "per query", float64(bytes)/n)
	report.Add(name+": largest share of a replica", "", o.Share())
	addTimes(report, name, o)
	return nil
}

// hedges measures the slowest answers.
func (f *replicasFlags) hedges(ctx context.Context, db kv.DB, queries []*search.Query, report *measure.Report) (err error) {
	p := replicas.Plan{Queries: queries, Workers: f.workers}
	var stalling []*replicas.Stalling
	for range f.replicas {
		store, err := barrels.Open(&replicas.Counting{DB: db}, barrels.Options{CacheBytes: 1 << 40})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, store.Close()) }()
		s := &replicas.Stalling{Slave: store, Share: f.stalls, For: f.stall}
		p.Slaves, stalling = append(p.Slaves, s), append(stalling, s)
	}
	if _, err := p.Chosen(ctx); err != nil { // the warm-up
		return err
	}
	for _, turn := range []struct {
		name string
		ask  func(context.Context) (*replicas.Outcome, error)
	}{{"without hedges", p.Chosen}, {"with hedges", p.Hedged}} {
		var calls int64
		for _, s := range stalling {
			calls -= s.Calls()
		}
		o, err := turn.ask(ctx)
		if err != nil {
			return err
		}
		for _, s := range stalling {
			calls += s.Calls()
		}
		report.Add(turn.name+": calls", "per query", float64(calls)/float64(len(queries)))
		addTimes(report, turn.name, o)
	}
	return nil
}

func addTimes(report *measure.Report, name string, o *replicas.Outcome) {
	for _, q := range []struct {
		name string
		at   float64
	}{{"median", 0.5}, {"p99", 0.99}, {"p99.9", 0.999}} {
		report.Add(name+": "+q.name, "µs", o.Times.Quantile(q.at).Seconds()*1e6)
	}
}
