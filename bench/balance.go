package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"adshard/backend"
	"adshard/balance"
	"adshard/bench/compare"
	"adshard/bench/measure"
	"adshard/bench/trace"
	"adshard/bench/workload"
	"adshard/internal/progress"
	"adshard/search"
)

// balanceFlags are the flags of `adbench balance`.
type balanceFlags struct {
	madeFlags
	strategies      []string
	workloads       []string
	studySlaves     []int
	simulate, study bool
	headlines       bool
	iteration       bool
	unseen          bool
	call            float64 // microseconds
	order           string
	json, html      string
	from            string             // a comparison to be shown again
	log             *workload.Workload // the file of queries, read once
	ownRate, ownEnd bool               // --rate or --duration was not given
	options         compare.Options
	cluster         compare.Cluster
}

// BalanceCommand returns the subcommand balance, which compares strategies, `own`
// among them, on clusters, in simulations and in studies.
func BalanceCommand(own ...balance.Strategy) *cobra.Command {
	var f balanceFlags
	f.options.Own = own
	c := &cobra.Command{
		Use:   "balance [--strategies A,B,…] [--workload NAME | --queries FILE] [--simulate | --study]",
		Short: "Compare balancing strategies on the same corpus and queries",
		Long: `Compares balancing strategies: each on a fresh cluster, with the same corpus and
the same queries at the same times. Prints a table; --html writes a page
with charts that needs no network, --json all numbers.

Clusters are real, a process for each part (the program adshard is found beside
this one or on the path), or with --simulate simulated, in simulated time, with
the product's own balancer. --study asks another question, without a cluster:
how far is a placement of the groups from what no placement can beat, by
workload and by number of slaves, and what does a strategy move until it rests,
when the mix of queries changes, and when a slave comes or goes? --headlines needs no database either: what papers
claim of consistent hashing and its load-aware kinds, on synthetic keys.

A recorded log (--queries, with a time behind each query) keeps its times and
lasts as long as it does. --rate N stretches or compresses its times to N queries
a second on average, and then the log repeats; --duration is how much is asked.

Workloads:
` + workload.Help(),
		Example: `  adbench balance --simulate --slaves 10 --html page.html
  adbench balance --strategies original,random,weighted-move --workload shift --slaves 7 --html page.html --json page.json
  adbench balance --queries log.tsv --db sqlite:ads.db --slaves 5
  adbench balance --study --keywords 300000 --html study.html
  adbench balance --study --strategies all --iteration --study-slaves 3,10,30,100,300 --html strategies.html
  adbench balance --headlines
  adbench balance --from study.json --html study.html`,
		Args: f.check,
		RunE: func(c *cobra.Command, _ []string) error {
			return f.run(c.Context(), c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	f.register(c.Flags())
	return c
}

func (f *balanceFlags) register(flags *pflag.FlagSet) {
	f.madeFlags.flags(flags)
	flags.StringSliceVar(&f.strategies, "strategies", []string{"original", "random", "weighted-move"}, "strategies to compare; all: every one that the order permits")
	flags.StringSliceVar(&f.workloads, "workload", nil, "workload, see above (real if not given); with --study several")
	flags.BoolVar(&f.simulate, "simulate", false, "simulated clusters")
	flags.BoolVar(&f.study, "study", false, "judge placements, without a cluster")
	flags.BoolVar(&f.headlines, "headlines", false, "measure what the papers claim of the techniques, on synthetic keys")
	flags.IntSliceVar(&f.studySlaves, "study-slaves", []int{1, 3, 10, 30}, "numbers of slaves of --study")
	flags.BoolVar(&f.iteration, "iteration", false, "with --study, measure also what one iteration at 100,000 slices takes")
	flags.BoolVar(&f.unseen, "unseen", false, "with --study: strategies place the groups by half of the different queries and are judged by the others")
	flags.StringVar(&f.order, "order", "", "how groups lie on the ring: advertiser, hash or id; if not given hash, as in clusters, or advertiser if a strategy in --strategies or --initial needs it")
	flags.StringVar(&f.json, "json", "", "write all numbers to this file")
	flags.StringVar(&f.html, "html", "", "write a page with charts to this file")
	flags.StringVar(&f.from, "from", "", "measure nothing; show the comparison in this file, which --json wrote")
	o := &f.options
	flags.IntVar(&o.Slaves, "slaves", 10, "number of slaves")
	flags.Float64Var(&o.Rate, "rate", 200, "queries a second, on average; if not given, a recorded log keeps its own times")
	flags.DurationVar(&o.Duration, "duration", 2*time.Minute, "how long queries are asked; if not given, a recorded log is asked once")
	flags.DurationVar(&o.Interval, "interval", 10*time.Second, "time between two iterations of a strategy")
	flags.StringVar(&o.Initial, "initial", "", "strategy that places the groups at the start; \"\": each its own")
	costs := compare.DefaultCosts()
	flags.Float64Var(&o.Costs.Query, "query-micros", costs.Query, "what a query costs each slave besides, simulated or studied")
	flags.Float64Var(&o.Costs.Examined, "examined-micros", costs.Examined, "what a posting examined costs")
	flags.Float64Var(&o.Costs.Matched, "matched-micros", costs.Matched, "what a keyword that matches costs more")
	flags.Float64Var(&f.call, "call-micros", 100, "what a call to a slave costs besides its search; --study shows ratios with it and without")
	f.cluster.Flags(flags)
}

func (f *balanceFlags) initial() []string {
	if f.options.Initial == "" {
		return nil
	}
	return []string{f.options.Initial}
}

func (f *balanceFlags) run(ctx context.Context, out, told io.Writer) (err error) {
	if f.from != "" {
		c, err := compare.ReadFile(f.from)
		if err != nil {
			return err
		}
		return f.write(c, out)
	}
	if f.headlines {
		p := progress.New(told)
		list, err := compare.Headlines(ctx, compare.HeadlineSeeds, func(done float64) { p.Share("headlines", done) })
		p.End()
		if err != nil {
			return err
		}
		return compare.WriteHeadlines(out, list)
	}
	if err := f.prepare(); err != nil { // before a corpus is made
		return err
	}
	p := progress.New(told)
	defer p.End()
	dir, remove, err := f.directory()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	db, name, err := f.database(ctx, dir, p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	clusters, _, err := temporaryIn(dir, "clusters")
	if err != nil {
		return err
	}
	defer os.Remove(clusters) // removed only if it is empty: the stores of a failed run stay, and so do those that --keep keeps
	f.cluster.DB, f.cluster.Dir = name, clusters
	f.options.Seed = f.seed
	f.options.Progress = p.Share
	c := &compare.Comparison{
		Command: newReport("balance").Command, Machine: measure.Machine(), Date: time.Now().UTC().Format(time.DateOnly),
		Commit: measure.Commit(), Load: measure.Load(),
	}
	if err := f.compare(ctx, c, db, dir, p); err != nil {
		return err
	}
	p.End()
	return f.write(c, out)
}

// compare runs what the flags ask for and adds the results to the comparison.
func (f *balanceFlags) compare(ctx context.Context, c *compare.Comparison, db backend.Store, dir string, p *progress.Line) error {
	for _, name := range f.names() {
		w, err := f.asked(name)
		if err != nil {
			return err
		}
		t, err := f.trace(ctx, db, w, dir, p)
		if err != nil {
			return err
		}
		c.Describe(t)
		if f.study {
			err = f.studied(ctx, c, t, w, p)
		} else {
			err = f.compared(ctx, c, t, w)
		}
		if err != nil {
			return err
		}
	}
	if f.iteration {
		var err error
		c.Iterations, err = compare.Iterations(ctx, f.options.Own, f.strategies, func(text string) { p.Share(text, -1) })
		return err
	}
	return nil
}

// names returns the workloads' names, or one empty name for the file of queries.
func (f *balanceFlags) names() []string {
	if f.queries != "" {
		return []string{""}
	}
	return f.workloads
}

func (f *balanceFlags) trace(ctx context.Context, db backend.Store, w *workload.Workload, dir string, p *progress.Line) (*trace.Trace, error) {
	order, _ := balance.ParseOrder(f.order)
	return trace.Cached(ctx, db, trace.Options{
		Order: order, Profile: search.DefaultProfile().Capped(search.Synonym), Queries: w.Queries,
		Progress: func(done float64) { p.Share("what queries cost, "+w.Name, done) },
	}, dir)
}

func (f *balanceFlags) studied(ctx context.Context, c *compare.Comparison, t *trace.Trace, w *workload.Workload, p *progress.Line) error {
	c.Mode = "study"
	rows, err := compare.Study(ctx, t, w, compare.StudyOptions{
		Costs: f.options.Costs, Call: f.call, Slaves: f.studySlaves, Strategies: f.strategies, Seed: f.seed, Own: f.options.Own,
		Rate: f.options.Rate, Interval: f.options.Interval, Unseen: f.unseen,
		Progress: func(text string) { p.Share(text, -1) },
	})
	c.Study = append(c.Study, rows...)
	return err
}

func (f *balanceFlags) compared(ctx context.Context, c *compare.Comparison, t *trace.Trace, w *workload.Workload) error {
	c.DescribeRun(w, f.options)
	c.Mode = "processes"
	if f.simulate {
		c.Mode = "simulated"
	}
	for _, name := range f.strategies {
		var run compare.Run
		var err error
		if f.simulate {
			run, err = compare.Simulate(ctx, t, w, name, f.options)
		} else {
			run, err = f.cluster.Run(ctx, t, w, name, f.options)
		}
		if err != nil {
			return err
		}
		c.Runs = append(c.Runs, run)
	}
	return nil
}

// write shows the comparison and writes the files that the flags ask for.
func (f *balanceFlags) write(c *compare.Comparison, out io.Writer) error {
	fmt.Fprintf(out, "$ %s\n", c.Command)
	if err := c.WriteTable(out); err != nil {
		return err
	}
	if f.json != "" {
		if err := c.WriteFile(f.json); err != nil {
			return err
		}
	}
	return writePage(f.html, c.WritePage)
}
