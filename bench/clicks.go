package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"adshard/bench/clicks"
	"adshard/bench/measure"
	"adshard/bench/workload"
	"adshard/internal/outfile"
	"adshard/internal/progress"
)

// clicksFlags are the flags of `adbench clicks`.
type clicksFlags struct {
	madeFlags
	clicks.Plan
	distinct       int
	workload, html string
	output
}

// ClicksCommand returns the subcommand clicks, which measures what learned qualities are
// worth.
func ClicksCommand() *cobra.Command {
	var f clicksFlags
	c := &cobra.Command{
		Use:   "clicks",
		Short: "Measure what qualities that are learned from clicks are worth in the auction",
		Long: `Simulates users whose click rates for each keyword and ad are known, and who look at
positions with known probabilities. They ask the queries of a workload; what competes
for a query is found in the database, by the oracle, and the product's auction places it.
Qualities learned once a day from the clicks of the days before are compared with the
true rates, with given, equal and random ones, and with themselves without one part
of what they are learned by. In the middle of the days some groups' rates change.

The figures are the same on every machine of an architecture.`,
		Example: `  adbench clicks --html clicks.html --json clicks.json
  adbench clicks --db sqlite:ads.db --queries log.tsv --rate 0.02`,
		Args: func(c *cobra.Command, args []string) error {
			return errors.Join(f.check(), cobra.NoArgs(c, args))
		},
		RunE: func(c *cobra.Command, _ []string) error {
			return f.run(c.Context(), c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	flags := c.Flags()
	f.madeFlags.flags(flags)
	flags.Lookup("keywords").DefValue = "30000"
	f.keywords = 30_000
	flags.StringVar(&f.workload, "workload", "real", "what is asked, unless --queries is given:\n"+workload.Help())
	flags.IntVar(&f.distinct, "distinct", 2000, "different queries that are asked at most")
	flags.IntVar(&f.Days, "days", 60, "days that are simulated")
	flags.IntVar(&f.Plan.Queries, "day-queries", 20_000, "queries a day")
	flags.IntVar(&f.Runs, "runs", 5, "runs with users of their own each")
	flags.Float64Var(&f.Users.Mean, "rate", 0.04, "click rate at the top of the median keyword")
	flags.Float64SliceVar(&f.Users.Examination, "examination", []float64{1, 0.6, 0.4, 0.3}, "how often users look at each position, as a part of the first's; so many are shown")
	flags.Float64Var(&f.Users.Changed, "changed", 0.2, "part of the groups whose rates change in the middle of the days")
	flags.Float64Var(&f.HalfLife, "half-life", 14, "after how many days a count weighs half")
	flags.Float64Var(&f.Optimism, "optimism", 1, "how many standard deviations qualities are above what is expected")
	flags.StringVar(&f.html, "html", "", "also write a page with charts to this file")
	f.output.flags(c)
	f.Users.Deviations = [4]float64{0.3, 0.4, 0.5, 0.2}
	return c
}

// check rejects invalid flags before anything runs.
func (f *clicksFlags) check() error {
	if f.queries != "" {
		f.workload = ""
	}
	f.Plan.Seed = f.seed
	if f.distinct < 1 {
		return fmt.Errorf("--distinct %d: 1 or more", f.distinct)
	}
	return errors.Join(f.Validate(), outfile.Check(outfile.Inputs(f.inputs()...),
		jsonOf(f.name, f.json), pageTo(f.html)))
}

func (f *clicksFlags) run(ctx context.Context, out, told io.Writer) (err error) {
	p := progress.New(told)
	defer p.End()
	dir, remove, err := f.directory()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	report := newReport("clicks")
	market, err := f.market(ctx, dir, p)
	if err != nil {
		return err
	}
	if err := f.Run(ctx, market, report, func(done float64) { p.Share("simulating users", done) }); err != nil {
		return err
	}
	p.End()
	if err := f.write(out, report); err != nil || f.html == "" {
		return err
	}
	about := []string{time.Now().UTC().Format(time.DateOnly), measure.Machine(), "load before: " + report.Load}
	return pageTo(f.html).Write(func(w io.Writer) error { return f.WritePage(w, report, about) })
}

// market finds what competes for the workload's queries in the database.
func (f *clicksFlags) market(ctx context.Context, dir string, p *progress.Line) (m *clicks.Market, err error) {
	asked, err := f.madeFlags.workload(f.workload)
	if err != nil {
		return nil, err
	}
	db, _, err := f.database(ctx, dir, p)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	snapshot, err := db.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, snapshot.Close()) }()
	texts, weights := f.drawn(asked)
	return clicks.NewMarket(ctx, snapshot, texts, weights, func(done float64) { p.Share("asking the oracle", done) })
}

// drawn returns the first distinct queries that a workload asks, and how often it asks each.
// It leaves out queries that are so rare that they are not drawn soon.
func (f *clicksFlags) drawn(w *workload.Workload) (texts []string, weights []float64) {
	all, seen, asked := w.Weights(0), make(map[int]bool), 0
	for i := range w.Sequence() {
		if asked++; len(texts) == f.distinct || asked > 100*f.distinct {
			break
		}
		if !seen[i] {
			seen[i] = true
			texts, weights = append(texts, w.Queries[i]), append(weights, all[i])
		}
	}
	return texts, weights
}
