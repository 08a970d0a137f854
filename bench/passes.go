package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"adshard/balance"
	"adshard/balance/strategy"
	"adshard/bench/cluster"
	"adshard/bench/measure"
	"adshard/bench/openloop"
	"adshard/bench/passes"
	"adshard/bench/workload"
	"adshard/internal/outfile"
	"adshard/internal/progress"
)

// passesFlags are the flags of `adbench passes`.
type passesFlags struct {
	clusterFlags
	strategies, workloads []string
	passes                []int
	orders                []string
	slaves, runs, before  int
	interval, pause       time.Duration
	html                  string
	output
}

// PassesCommand returns the subcommand passes, which repeats chapter 8 of the thesis.
func PassesCommand() *cobra.Command {
	var f passesFlags
	c := &cobra.Command{
		Use:   "passes",
		Short: "Repeat chapter 8 of the thesis on real processes, query by query",
		Long: `Asks the thesis' workloads on clusters of real processes, a fresh one for each
strategy and workload: 100 queries, one at a time, pass after pass, while the
balancer works. Of some passes each query's time is kept, at the master and at
each slave. original and random move nothing for load, so that what changes between
their passes are caches; their passes end with the fifth.

A strategy's options stand behind it: random:slices=250000. One that places whole
advertisers, as original, has the order advertiser whatever --order says. With
--before, as many passes ask other queries first: a strategy that follows the load
then finds that it has shifted.`,
		Example: `  adbench passes --keywords 8500000 --group-keywords 34 --html thesis8.html --json thesis8.json
  adbench passes --keywords 100000 --strategies weighted-move --passes 1,10
  adbench passes --keywords 100000 --strategies slicer,random:slices=250000 --order hash,id --pause 2s --runs 5`,
		Args: f.check,
		RunE: func(c *cobra.Command, _ []string) error {
			return f.run(c.Context(), c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	flags := c.Flags()
	f.clusterFlags.flags(flags)
	flags.StringSliceVar(&f.strategies, "strategies", []string{"original", "random", "weighted-move"}, "strategies to compare")
	flags.StringSliceVar(&f.workloads, "workload", []string{"single", "production"}, "workloads: single, production")
	flags.IntSliceVar(&f.passes, "passes", []int{1, 3, 5, 100}, "which passes are recorded; the last one ends a run")
	flags.IntVar(&f.slaves, "slaves", 3, "number of slaves")
	flags.DurationVar(&f.interval, "interval", time.Second, "time between two iterations of a strategy")
	flags.DurationVar(&f.pause, "pause", 0, "time between two passes in which nothing is asked, so that iterations fall between them")
	flags.StringSliceVar(&f.orders, "order", []string{balance.ByOwner.String()}, "how groups lie on the ring: advertiser, hash, id")
	flags.IntVar(&f.runs, "runs", 1, "how often each row is measured, with a fresh cluster each time")
	flags.IntVar(&f.before, "before", 0, "passes of other queries that are asked first, so that the log shifts")
	flags.StringVar(&f.html, "html", "", "also write a page with charts to this file")
	f.output.flags(c)
	return c
}

// check rejects invalid flags before anything is made.
func (f *passesFlags) check(c *cobra.Command, args []string) error {
	if err := f.checkRows(); err != nil {
		return err
	}
	for _, w := range f.workloads {
		if w != "single" && w != "production" {
			return fmt.Errorf("--workload %s: single or production", w)
		}
	}
	slices.Sort(f.passes)
	if f.passes = slices.Compact(f.passes); len(f.passes) == 0 || f.passes[0] < 1 || f.passes[len(f.passes)-1] > 10_000 {
		return errors.New("--passes: numbers from 1 to 10,000")
	}
	if f.slaves < 1 || f.slaves > cluster.MaxSlaves {
		return fmt.Errorf("--slaves %d: 1 to %d", f.slaves, cluster.MaxSlaves)
	}
	if f.runs < 1 || f.runs > 100 || f.before < 0 || f.before > 10_000 {
		return fmt.Errorf("--runs %d, --before %d: 1 to 100, and 0 to 10,000", f.runs, f.before)
	}
	err := outfile.Check(outfile.Inputs(f.inputs()...), jsonOf(f.name, f.json), pageTo(f.html))
	return errors.Join(err, cobra.NoArgs(c, args))
}

// checkRows checks strategies and orders.
func (f *passesFlags) checkRows() error {
	for _, o := range f.orders {
		if _, ok := balance.ParseOrder(o); !ok {
			return fmt.Errorf("--order %s: %s", o, strings.Join(balance.Orders(), ", "))
		}
	}
	for _, s := range f.strategies {
		name, options, err := strategyOf(s)
		if err == nil {
			_, err = strategy.Named(name, options)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// strategyOf parses a strategy's name and options: NAME:OPTION=VALUE:OPTION=VALUE.
func strategyOf(text string) (name string, options map[string]string, err error) {
	parts := strings.Split(text, ":")
	options = make(map[string]string)
	for _, part := range parts[1:] {
		option, value, ok := strings.Cut(part, "=")
		if !ok {
			return "", nil, fmt.Errorf("--strategies %s: an option is given as NAME:OPTION=VALUE", text)
		}
		options[option] = value
	}
	return parts[0], options, nil
}

func (f *passesFlags) run(ctx context.Context, out, told io.Writer) (err error) {
	p := progress.New(told)
	defer p.End()
	made, err := f.prepare(ctx, "passes", p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, made.remove()) }()
	begun := newReport("passes")
	r := &passes.Report{
		Command: begun.Command, Commit: begun.Commit, Load: begun.Load, Machine: measure.Machine(),
		Date: time.Now().UTC().Format(time.DateOnly), Groups: made.counts.Groups, Keywords: made.counts.Keywords,
	}
	for n := range f.runs {
		for _, row := range f.rows() {
			row.Run = n + 1
			if err := f.one(ctx, made, &row, p); err != nil {
				return fmt.Errorf("%s by %s, %s: %w", row.Strategy, row.Order, row.Workload, err)
			}
			r.Runs = append(r.Runs, row)
		}
	}
	p.End()
	return f.writeAll(out, r)
}

// rows returns the outcomes to be measured in one run.
func (f *passesFlags) rows() (list []passes.Outcome) {
	for _, s := range f.strategies {
		name, _, _ := strings.Cut(s, ":")
		orders := f.orders
		if strategy.CheckOrder(name, balance.ByHash) != nil { // it places whole advertisers
			orders = []string{balance.ByOwner.String()}
		}
		for _, order := range orders {
			for _, w := range f.workloads {
				list = append(list, passes.Outcome{Strategy: s, Order: order, Workload: w})
			}
		}
	}
	return list
}

// still is the last pass for strategies that follow no load: the first passes already
// show the effect of caches.
const still = 5

// one runs a strategy on a workload, with a fresh cluster.
func (f *passesFlags) one(ctx context.Context, made *prepared, o *passes.Outcome, p *progress.Line) (err error) {
	what := fmt.Sprintf("%s by %s, %s, run %d", o.Strategy, o.Order, o.Workload, o.Run)
	plan := passes.Plan{Recorded: f.passes, BeforePasses: f.before, Pause: f.pause, Progress: func(n int) {
		p.Share(what, float64(n-1)/float64(f.passes[len(f.passes)-1]))
	}}
	if passes.Still(o.Strategy) {
		plan.Recorded = slices.DeleteFunc(slices.Clone(f.passes), func(n int) bool { return n > still })
	}
	if plan.Targets, o.Note, err = f.targets(o.Workload, f.seed); err != nil {
		return err
	}
	if f.before > 0 {
		if plan.Before, _, err = f.targets(o.Workload, f.seed+1); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(made.stores); err != nil {
		return err
	}
	name, options, err := strategyOf(o.Strategy)
	if err != nil {
		return err
	}
	c, err := cluster.Start(ctx, cluster.Config{
		Program: made.program, DB: made.db, Dir: made.stores, Strategy: name, Options: options, Order: o.Order, Interval: f.interval,
		Slaves: f.slaves, Patience: f.patience,
		Progress: func(groups float64) { p.Share(what+", first fill", groups/float64(max(1, made.counts.Groups))) },
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Stop()) }()
	if err := c.Pause(ctx); err != nil {
		return err
	}
	o.Passes, err = passes.Run(ctx, c, plan)
	return err
}

// targets returns the requests of a pass of a workload, and a note for the reader.
func (f *passesFlags) targets(name string, seed uint64) (list []string, note string, err error) {
	queries := f.queryFlags
	queries.seed = seed
	w, err := queries.workload(name)
	if err != nil {
		return nil, "", err
	}
	if list = asked(w); len(list) != passes.Each {
		return nil, "", fmt.Errorf("%d of %d queries can be asked: choose another --seed", len(list), passes.Each)
	}
	return list, w.Note, nil
}

// asked returns the requests of a pass.
func asked(w *workload.Workload) (list []string) {
	n := 0
	for q := range w.Sequence() {
		if n++; n > passes.Each {
			break
		}
		if target, ok := openloop.Search(w.Queries[q], nil); ok {
			list = append(list, target.Path)
		}
	}
	return list
}

// writeAll shows the report and writes the files that the flags ask for.
func (f *passesFlags) writeAll(out io.Writer, r *passes.Report) error {
	fmt.Fprintf(out, "$ %s\ncommit %s; load before: %s\n", r.Command, r.Commit, r.Load)
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, row := range append([][]string{passes.Header()}, r.Rows()...) {
		fmt.Fprintln(t, strings.Join(row, "\t")+"\t")
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if f.json != "" {
		if err := jsonOf(f.name, f.json).WriteJSON(r); err != nil {
			return err
		}
	}
	return writePage(f.html, r.WritePage)
}
