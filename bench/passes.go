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
	slaves                int
	order                 string
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
their passes are caches; their passes end with the fifth.`,
		Example: `  adbench passes --keywords 8500000 --group-keywords 34 --html thesis8.html --json thesis8.json
  adbench passes --keywords 100000 --strategies weighted-move --passes 1,10`,
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
	flags.StringVar(&f.order, "order", balance.ByOwner.String(), "how groups lie on the ring: advertiser, hash or id")
	flags.StringVar(&f.html, "html", "", "also write a page with charts to this file")
	f.output.flags(c)
	return c
}

// check rejects invalid flags before anything is made.
func (f *passesFlags) check(c *cobra.Command, args []string) error {
	order, ok := balance.ParseOrder(f.order)
	if !ok {
		return fmt.Errorf("--order %s: %s", f.order, strings.Join(balance.Orders(), ", "))
	}
	for _, s := range f.strategies {
		if _, err := strategy.Named(s); err != nil {
			return err
		}
		if err := strategy.CheckOrder(s, order); err != nil {
			return err
		}
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
	err := outfile.Check(outfile.Inputs(f.inputs()...), jsonOf(f.name, f.json), pageTo(f.html))
	return errors.Join(err, cobra.NoArgs(c, args))
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
	for _, name := range f.strategies {
		for _, w := range f.workloads {
			o, err := f.one(ctx, made, name, w, p)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", name, w, err)
			}
			r.Runs = append(r.Runs, o)
		}
	}
	p.End()
	return f.writeAll(out, r)
}

// still is the last pass of strategies that follow no load: the first ones show what
// caches bring by themselves.
const still = 5

// one runs a strategy on a workload.
func (f *passesFlags) one(ctx context.Context, made *prepared, name, workloadName string, p *progress.Line) (out passes.Outcome, err error) {
	w, err := f.workload(workloadName)
	if err != nil {
		return out, err
	}
	out = passes.Outcome{Strategy: name, Workload: workloadName, Note: w.Note}
	what := name + ", " + workloadName
	if err := os.RemoveAll(made.stores); err != nil {
		return out, err
	}
	c, err := cluster.Start(ctx, cluster.Config{
		Program: made.program, DB: made.db, Dir: made.stores, Strategy: name, Order: f.order, Interval: f.interval,
		Slaves: f.slaves, Patience: f.patience,
		Progress: func(groups float64) { p.Share(what+", first fill", groups/float64(max(1, made.counts.Groups))) },
	})
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, c.Stop()) }()
	if err := c.Pause(ctx); err != nil {
		return out, err
	}
	plan := passes.Plan{Targets: asked(w), Recorded: f.passes, Pause: f.pause, Progress: func(n int) {
		p.Share(what, float64(n-1)/float64(f.passes[len(f.passes)-1]))
	}}
	if name == "original" || name == "random" {
		plan.Recorded = slices.DeleteFunc(slices.Clone(f.passes), func(n int) bool { return n > still })
	}
	if len(plan.Targets) != passes.Each {
		return out, fmt.Errorf("%d of %d queries can be asked: choose another --seed", len(plan.Targets), passes.Each)
	}
	out.Passes, err = passes.Run(ctx, c, plan)
	return out, err
}

// asked are the requests of a pass.
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

// writeAll shows the report and writes the files that are asked for.
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
