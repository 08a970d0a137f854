package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"adshard/bench/executions"
	"adshard/bench/layouts"
	"adshard/bench/layouts/setups"
	"adshard/bench/measure"
	"adshard/internal/corpus"
	"adshard/internal/outfile"
	"adshard/internal/progress"
)

// executionsFlags are the flags of `adbench executions`.
type executionsFlags struct {
	setFlags
	keywords        int64
	layouts, setups []string
	times, runs     int
	limit           time.Duration
	join            []string
	html            string
	output
}

// ExecutionsCommand returns the subcommand executions, which repeats chapter 7 of the
// thesis by the rules of its section 7.2.
func ExecutionsCommand() *cobra.Command {
	var f executionsFlags
	c := &cobra.Command{
		Use:   "executions",
		Short: "Repeat chapter 7 of the thesis: each query 20,000 times, boxplots, evolution",
		Long: `Repeats the ten setups of section 7.2 of the master thesis: layouts of keywords are
built one after the other, each is asked a setup's query 20,000 times in each of --runs
runs, and the latter half is judged. --keywords are those of one slave (1S), five and eight have 3 and 4.2
times as many. With low resources (LR) a layout keeps 0.6 (5S) or 0.43 (8S) of its data
in memory, and the pages of its files are dropped every 20 ms.

Parts can be measured apart and joined: they choose the same queries.

Setups: ` + strings.Join(executions.Names(), ", ") + `
Layouts:
` + names(allLayouts()),
		Example: `  adbench executions --keywords 100000 --html thesis7.html
  adbench executions --setups RQ1600-8S-LR --layouts RDB-Pr-Fl-Opt --limit 60s --json low.json
  adbench executions --join high.json,low.json --html thesis7.html --json thesis7.json`,
		Args: f.check,
		RunE: func(c *cobra.Command, _ []string) error {
			return f.run(c.Context(), c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	f.define(c.Flags())
	f.output.flags(c)
	return c
}

func (f *executionsFlags) define(flags *pflag.FlagSet) {
	flags.Int64Var(&f.keywords, "keywords", 1_000_000, "keywords of one slave; the thesis: about 10,000,000")
	flags.StringSliceVar(&f.layouts, "layouts", []string{"all"}, "layouts, see above, or all")
	flags.StringSliceVar(&f.setups, "setups", []string{"all"}, "setups, see above, or all")
	flags.IntVar(&f.times, "times", 20_000, "how often a query is executed")
	flags.DurationVar(&f.limit, "limit", 0, "a layout that takes longer on a setup is stopped in each run; 0: never")
	flags.IntVar(&f.runs, "runs", 3, "how often each setup is measured on a layout that was built once")
	flags.StringSliceVar(&f.join, "join", nil, "measure nothing; show the results in these files, which --json wrote, as one")
	flags.StringVar(&f.html, "html", "", "also write a page with charts to this file")
	f.source(flags)
}

// check rejects invalid flags before anything is made.
func (f *executionsFlags) check(c *cobra.Command, args []string) error {
	switch {
	case f.keywords < 10 || f.keywords > 100_000_000:
		return fmt.Errorf("--keywords %d: 10 to 100,000,000", f.keywords)
	case f.times < 2 || f.times > 10_000_000:
		return fmt.Errorf("--times %d: 2 to 10,000,000", f.times)
	case f.runs < 1 || f.runs > 100:
		return fmt.Errorf("--runs %d: 1 to 100", f.runs)
	case f.limit < 0:
		return fmt.Errorf("--limit %v: 0 for none, or a time such as 60s", f.limit)
	}
	if _, err := f.chosen(); err != nil {
		return err
	}
	if _, err := f.chosenLayouts(); err != nil {
		return err
	}
	err := outfile.Check(outfile.Inputs(f.join...), jsonOf(f.name, f.json), pageTo(f.html))
	return errors.Join(err, cobra.NoArgs(c, args))
}

// chosen returns the setups that the flag names.
func (f *executionsFlags) chosen() (out []executions.Setup, err error) {
	for _, name := range f.setups {
		all := []string{name}
		if name == "all" {
			all = executions.Names()
		}
		for _, n := range all {
			s, err := executions.Named(n)
			if err != nil {
				return nil, fmt.Errorf("--setups: %w", err)
			}
			out = append(out, s)
		}
	}
	return out, nil
}

func (f *executionsFlags) chosenLayouts() ([]layouts.Layout, error) {
	return choose("--layouts", "layout", allLayouts(), f.layouts)
}

func (f *executionsFlags) run(ctx context.Context, out, told io.Writer) (err error) {
	var r *executions.Report
	if len(f.join) > 0 {
		r, err = executions.Join(f.join...)
	} else {
		r, err = f.measure(ctx, told)
	}
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, setup := range executions.Names() {
		for i, row := range r.Rows(setup) {
			if i == 0 {
				fmt.Fprintf(t, "%s\t\n%s\t\n", setup, strings.Join(executions.Header(), "\t"))
			}
			fmt.Fprintln(t, strings.Join(row, "\t")+"\t")
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if err := r.WriteClaims(out); err != nil {
		return err
	}
	if f.json != "" {
		if err := r.WriteFile(f.json); err != nil {
			return err
		}
	}
	return writePage(f.html, r.WritePage)
}

// measure measures what the flags ask for.
func (f *executionsFlags) measure(ctx context.Context, told io.Writer) (_ *executions.Report, err error) {
	p := progress.New(told)
	defer p.End()
	dir, remove, err := f.directory()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	stores, removeStores, err := temporaryIn(dir, "stores")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, removeStores()) }()
	plan := executions.Plan{Keywords: f.keywords, Times: f.times, Limit: f.limit, Seed: f.seed, Runs: f.runs, Dir: stores, Progress: p.Share}
	if plan.Setups, err = f.chosen(); err != nil {
		return nil, err
	}
	if plan.Layouts, err = f.chosenLayouts(); err != nil {
		return nil, err
	}
	if err := f.corpus(&plan, dir, p); err != nil {
		return nil, err
	}
	begun := newReport("executions")
	r, err := executions.Run(ctx, &plan)
	if err != nil {
		return nil, err
	}
	r.Runs = []executions.Made{{Command: begun.Command, Commit: begun.Commit, Load: begun.Load, Machine: measure.Machine(), Date: time.Now().UTC().Format(time.DateOnly)}}
	return r, nil
}

// corpus sets a plan's keywords and the log, which comes from the largest corpus.
func (f *executionsFlags) corpus(plan *executions.Plan, dir string, p *progress.Line) error {
	files, from := sourceOf(f.data)
	c, err := corpus.Open(files)
	if err != nil {
		return err
	}
	options := corpus.Options{Queries: 20_000, Seed: f.seed, PerGroup: f.perGroup}
	plan.Set = func(ctx context.Context, keywords int64) (*layouts.Set, error) {
		o, what := options, fmt.Sprintf("%d keywords from %s", keywords, from)
		o.Keywords = keywords
		p.Share(what, 0)
		return f.keptSet(ctx, c, o, dir, func(done float64) { p.Share(what, done) })
	}
	options.Keywords = executions.Largest(f.keywords)
	plan.Log, err = setups.Log(c, options)
	return err
}
