package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"adshard/backend/sqlite"
	"adshard/balance"
	"adshard/bench/cluster"
	"adshard/bench/freshness"
	"adshard/bench/freshness/creators"
	"adshard/bench/measure"
	"adshard/internal/outfile"
	"adshard/internal/progress"
)

// freshnessFlags are the flags of `adbench freshness`.
type freshnessFlags struct {
	clusterFlags
	creators                         string
	rates                            []float64
	slaves, groups, asked, campaigns int
	duration, most                   time.Duration
	output
}

// FreshnessCommand returns the subcommand freshness, which measures how soon changes
// appear in answers: with the feed, and with creators as in the thesis' original system.
func FreshnessCommand() *cobra.Command {
	var f freshnessFlags
	c := &cobra.Command{
		Use:   "freshness [--creators]",
		Short: "Compare how soon changes are in answers: by the feed, and by barrels built whole",
		Long: `Starts a cluster of real processes, changes ads of one campaign at given rates, and
asks for them: the age of each change when an answer shows it first, and how long
answers mix old and new groups of a campaign that was changed at once.

With --creators the same is measured of the way before the feed (section 2.4 of the
thesis): ` + "`adshard barrels build`" + ` runs again and again, slaves copy their barrels, open
the copies and switch to them. With --creators=each every slave has a creator of its
own, as there, which builds all barrels and delivers one.

The command fresh measures a cluster that runs already.`,
		Example: `  adbench freshness --keywords 100000 --creators
  adbench freshness --db sqlite:ads.db --creators=each --rates 1,100 --duration 1m`,
		Args: f.check,
		RunE: func(c *cobra.Command, _ []string) error {
			return f.run(c.Context(), c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	flags := c.Flags()
	f.clusterFlags.flags(flags)
	flags.StringVar(&f.creators, "creators", "", "also measure barrels that are built whole, copied and switched to: by one creator for all slaves, or --creators=each, one for each slave")
	flags.Lookup("creators").NoOptDefVal = oneCreator
	flags.Float64SliceVar(&f.rates, "rates", []float64{1, 100}, "changes a second, each rate measured by itself")
	flags.IntVar(&f.slaves, "slaves", 3, "slaves")
	flags.IntVar(&f.groups, "groups", 200, "ad groups of the campaign")
	flags.IntVar(&f.asked, "asked", 16, "how many of them are changed one by one, and asked for")
	flags.IntVar(&f.campaigns, "campaigns", 3, "how often all groups are changed at once, for each rate")
	flags.DurationVar(&f.duration, "duration", 20*time.Second, "how long changes are made at a rate; with --creators at least two iterations should fit")
	flags.DurationVar(&f.most, "most", 10*time.Minute, "give up when no change is shown for so long")
	f.output.flags(c)
	return c
}

// The values of --creators.
const (
	oneCreator   = "one"
	eachCreators = "each"
)

// check rejects invalid flags before anything is made.
func (f *freshnessFlags) check(c *cobra.Command, args []string) error {
	switch {
	case f.creators != "" && f.creators != oneCreator && f.creators != eachCreators:
		return fmt.Errorf("--creators=%s: one or each", f.creators)
	case len(f.rates) == 0 || slices.ContainsFunc(f.rates, func(r float64) bool { return !(r > 0 && r <= 10_000) }):
		return fmt.Errorf("--rates %v: each above 0, and 10,000 at most", f.rates)
	case f.slaves < 1 || f.slaves > cluster.MaxSlaves:
		return fmt.Errorf("--slaves %d: 1 to %d", f.slaves, cluster.MaxSlaves)
	case f.asked < 1 || f.asked > f.groups || f.groups > 10_000:
		return fmt.Errorf("--groups %d --asked %d: up to 10,000 groups, of which 1 or more are asked for", f.groups, f.asked)
	case f.campaigns < 0 || f.duration <= 0 || f.most <= 0:
		return errors.New("--campaigns is 0 or more, --duration and --most are above 0")
	}
	if err := f.output.check(f.inputs()...); err != nil {
		return err
	}
	return cobra.NoArgs(c, args)
}

func (f *freshnessFlags) run(ctx context.Context, out, told io.Writer) (err error) {
	p := progress.New(told)
	defer p.End()
	made, err := f.prepare(ctx, "freshness", p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, made.remove()) }()
	report := newReport("freshness")
	report.Add("keywords", "", float64(made.counts.Keywords))
	if err := f.feed(ctx, made, report, p); err != nil {
		return err
	}
	if f.creators != "" {
		if err := f.whole(ctx, made, report, p); err != nil {
			return err
		}
	}
	report.Note("%d slaves; a campaign of %d ad groups, %d of which are asked for; changes at a rate are made for %v", f.slaves, f.groups, f.asked, f.duration)
	p.End()
	return f.write(out, report)
}

// feed measures a cluster with the feed.
func (f *freshnessFlags) feed(ctx context.Context, made *prepared, report *measure.Report, p *progress.Line) (err error) {
	c, err := cluster.Start(ctx, cluster.Config{
		Program: made.program, DB: made.db, Dir: filepath.Join(made.stores, "feed"), Strategy: freshStrategy, Order: balance.ByHash.String(), Interval: time.Hour,
		Slaves: f.slaves, Patience: f.patience,
		Progress: func(groups float64) { p.Share("first fill", groups/float64(max(1, made.counts.Groups))) },
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Stop()) }()
	return f.courses(ctx, "feed", made.db, c.URL, report, p)
}

// freshStrategy is the strategy that places groups; nothing moves while changes are
// measured.
const freshStrategy = "weighted-move"

// storeMemory is the cache size of a slave: enough for a whole store of the measured
// sizes.
const storeMemory = 1 << 30

// whole measures creators, which build whole barrels.
func (f *freshnessFlags) whole(ctx context.Context, made *prepared, report *measure.Report, p *progress.Line) (err error) {
	dir := filepath.Join(made.stores, "creators")
	if err := outfile.MakeDir(dir); err != nil {
		return err
	}
	p.Share("building the first barrels", -1)
	s, err := creators.Start(ctx, creators.Config{
		Dir: dir, Slaves: f.slaves, Each: f.creators == eachCreators, CacheBytes: storeMemory,
		Build: func(ctx context.Context, out string) error { return f.build(ctx, made, out) },
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Stop()) }()
	if err := f.courses(ctx, "creators", made.db, s.URL, report, p); err != nil {
		return err
	}
	var built, switched []float64
	for _, i := range s.Iterations() {
		built, switched = append(built, i.Built.Seconds()), append(switched, i.Switched.Seconds())
	}
	report.Add("creators: iterations", "", float64(len(built)))
	report.AddRounds("creators: barrels are built after", "s", built)
	report.AddRounds("creators: all slaves have switched after", "s", switched)
	return nil
}

// build runs `adshard barrels build`.
func (f *freshnessFlags) build(ctx context.Context, made *prepared, out string) error {
	c := exec.CommandContext(ctx, made.program, "barrels", "build", "--db", made.db, "--slaves", fmt.Sprint(f.slaves),
		"--strategy", freshStrategy, "--order", balance.ByHash.String(), "--out", out)
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) } // the command then removes what it has made
	c.WaitDelay = time.Minute
	if said, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(string(said)))
	}
	return nil
}

// courses measures the system at a URL, at all rates.
func (f *freshnessFlags) courses(ctx context.Context, way, db, url string, report *measure.Report, p *progress.Line) (err error) {
	store, err := sqlite.Open(ctx, strings.TrimPrefix(db, "sqlite:"), sqlite.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	for _, rate := range f.rates {
		what := fmt.Sprintf("%s, %s a second", way, measure.Number(rate))
		p.Share(what, -1)
		c := freshness.Course{
			Store: store, Search: url, Groups: f.groups, Asked: f.asked, Rate: rate, Duration: f.duration, Wholes: f.campaigns, Patience: f.most, Seed: f.seed,
		}
		r, err := c.Measure(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		r.Figures(report, what)
	}
	return nil
}
