package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"adshard/balance"
	"adshard/balance/strategy"
	"adshard/bench/measure"
	"adshard/bench/premise"
	"adshard/internal/outfile"
	"adshard/internal/progress"
)

// premiseFlags are the flags of `adbench premise`.
type premiseFlags struct {
	clusterFlags
	plan premise.Plan
	html string
	output
}

// PremiseCommand returns the subcommand premise, which measures how expensive a candidate must
// be for balancing to pay off.
func PremiseCommand() *cobra.Command {
	var f premiseFlags
	c := &cobra.Command{
		Use:   "premise",
		Short: "Measure from which cost of a candidate on balancing is worth it, on real processes",
		Long: `Starts a fresh cluster of real processes for each strategy and each model of a scorer,
in rounds, and asks it a log whose topics shift: what answers take after the shift, how many
are incomplete at the deadline, how even the slaves' processor time is, and what is moved.

Models are made of trees, so that a candidate costs work; what it costs is measured first. The rate
of each model is --load of what the placement "fixed", by size and never moved, answers in time.

Each slave gets --share of one processor by a control group of its own (Linux, as root or where
groups are delegated), as if it had a machine to itself. Where none can be made the report says so:
slaves then share cores, and balance hardly shows.`,
		Example: `  adbench premise --html premise.html --json premise.json
  adbench premise --keywords 100000 --trees -1,2900 --strategies fixed,random,topics --rounds 1`,
		Args: f.check,
		RunE: func(c *cobra.Command, _ []string) error {
			return f.run(c.Context(), c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	flags, p := c.Flags(), &f.plan
	f.clusterFlags.flags(flags)
	flags.IntSliceVar(&p.Trees, "trees", []int{premise.None, 60, 550, 2900}, "the models, by their number of trees, of which each costs some 17 ns; -1: no scorer")
	flags.StringSliceVar(&p.Strategies, "strategies", []string{premise.Fixed, "random", "original", "weighted-move", "slicer", "topics"}, "strategies to compare; fixed: by size, and nothing moves")
	flags.StringVar(&p.Order, "order", balance.ByOwner.String(), "how groups lie on the ring: advertiser, hash or id")
	flags.IntVar(&p.Slaves, "slaves", 8, "number of slaves")
	flags.Float64Var(&p.Share, "share", 0.1, "what of one processor each slave may use; 0: no limit")
	flags.Float64Var(&p.Load, "load", 0.6, "the rate, as a share of what fixed answers in time")
	flags.IntVar(&p.Rounds, "rounds", 3, "how often each row is measured")
	flags.BoolVar(&p.Exact, "exact", false, "score every keyword that matches; otherwise searches stop early")
	flags.DurationVar(&p.Before, "before", 6*time.Second, "how long is asked before the shift")
	flags.DurationVar(&p.After, "after", 8*time.Second, "how long is asked after it, which is measured")
	flags.DurationVar(&p.Capacity, "capacity", 4*time.Second, "how long it is measured what fixed answers in time")
	flags.DurationVar(&p.Interval, "interval", time.Second, "time between two iterations of a strategy")
	flags.DurationVar(&p.Deadline, "deadline", 500*time.Millisecond, "the time that each request gives the cluster")
	flags.StringVar(&f.html, "html", "", "also write a page with charts to this file")
	f.output.flags(c)
	return c
}

// check rejects invalid flags before anything is made.
func (f *premiseFlags) check(c *cobra.Command, args []string) error {
	order, ok := balance.ParseOrder(f.plan.Order)
	if !ok {
		return fmt.Errorf("--order %s: %s", f.plan.Order, strings.Join(balance.Orders(), ", "))
	}
	if len(f.plan.Strategies) == 0 {
		return errors.New("--strategies: name at least one")
	}
	for _, s := range f.plan.Strategies {
		if s == premise.Fixed {
			continue
		}
		if _, err := strategy.Named(s); err != nil {
			return err
		}
		if err := strategy.CheckOrder(s, order); err != nil {
			return err
		}
	}
	if f.queries != "" {
		return errors.New("--queries: a log of your own has no shift; leave it out")
	}
	if err := f.plan.Validate(); err != nil {
		return err
	}
	err := outfile.Check(outfile.Inputs(f.inputs()...), jsonOf(f.name, f.json), pageTo(f.html))
	return errors.Join(err, cobra.NoArgs(c, args))
}

func (f *premiseFlags) run(ctx context.Context, out, told io.Writer) (err error) {
	p := progress.New(told)
	defer p.End()
	made, err := f.prepare(ctx, "premise", p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, made.remove()) }()
	plan := &f.plan
	if plan.Workload, err = f.workload("shift:" + plan.Before.String()); err != nil {
		return err
	}
	plan.Program, plan.DB, plan.Dir, plan.Patience = made.program, made.db, made.stores, f.patience
	plan.Said = func(what string) { p.Share(what, -1) }
	begun := newReport("premise")
	r := &premise.Report{
		Command: begun.Command, Commit: begun.Commit, Load: begun.Load, Machine: measure.Machine(), Date: time.Now().UTC().Format(time.DateOnly),
		Groups: made.counts.Groups, Keywords: made.counts.Keywords, Order: plan.Order, Slaves: plan.Slaves, Share: plan.Share, Of: plan.Load, Exact: plan.Exact,
		Before: plan.Before.Seconds(), After: plan.After.Seconds(),
	}
	err = plan.Run(ctx, r)
	p.End()
	if len(r.Rows) == 0 {
		return err
	}
	return errors.Join(err, f.writeAll(out, r)) // half an hour's rows, even if the last ones were not reached
}

// writeAll shows the report and writes the files that the flags ask for.
func (f *premiseFlags) writeAll(out io.Writer, r *premise.Report) error {
	fmt.Fprintf(out, "$ %s\ncommit %s; load before: %s\n", r.Command, r.Commit, r.Load)
	if err := r.WriteTable(out); err != nil {
		return err
	}
	if f.json != "" {
		if err := jsonOf(f.name, f.json).WriteJSON(r); err != nil {
			return err
		}
	}
	return writePage(f.html, r.WritePage)
}
