package report

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"adshard/backend"
	"adshard/internal/cli/cmdline"
	"adshard/internal/node/database"
	"adshard/internal/progress"
	"adshard/quality"
	"adshard/quality/countfile"
	"adshard/quality/revise"
)

type qualityFlags struct {
	db, today    string
	scale        float64
	explain      []uint
	dryRun, json bool
	options      quality.Options
}

// QualityCommand returns the commands that learn qualities and explain them.
func QualityCommand(s cmdline.Streams) *cobra.Command {
	c := cmdline.Group(&cobra.Command{
		Use:   "quality",
		Short: "Learn the quality of keywords from clicks",
		Long: `Learns the quality of keywords from impressions and clicks, or takes back what was learned; trains models
of scorers, which multiply qualities in the request at hand.`,
	})
	c.AddCommand(qualityLearnCommand(s), qualityGivenCommand(s), qualityTrainCommand(s))
	return c
}

func qualityLearnCommand(s cmdline.Streams) *cobra.Command {
	var f qualityFlags
	c := &cobra.Command{
		Use:   "learn --db URL FILE...",
		Short: "Learn qualities from counts of impressions and clicks, and write them",
		Long: `Learns the quality of keywords, 1 to 10, from counts of impressions and clicks, and
writes those that change into the database, beside the given ones, in whose place they are
served. A running cluster applies them as any change; "adshard quality given" takes them back.

The files are CSV with a header, or JSON lines, with campaign, group, keyword, ad (ids, as
in answers), position, day, impressions and clicks; - stands for standard input. Name all
counts of the last half-lives each time: nothing is remembered between two runs. Keywords
of groups that the files do not name keep their quality.

A quality is in proportion to the click rate at the top of the page. That users look less
at lower positions is taken off; what has few clicks borrows from its group and campaign,
and is rated higher the less is known of it, so that it is shown and becomes known.
What was clicked more often than it was shown, an ad in a position over all days of the
files, is refused: nothing is learned from it. Rows of different files for the same add up
before.

--explain shows how a keyword's rate came to be. Each run prints its --scale: give it to the
next one, so that qualities change only when clicks do.

Exit status: 0 no row was rejected; 1 it failed; 2 invalid arguments; 3 some rows were
rejected, or counts refused; the others were learned from.`,
		Example: `  adshard quality learn --db sqlite:ads.db --dry-run counts.csv
  adshard quality learn --db sqlite:ads.db --scale 0.008 counts-*.csv
  adshard quality learn --db sqlite:ads.db --dry-run --explain 17 counts.csv`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmdline.WrongUse("name at least one file, or - for standard input")
			}
			return nil
		},
		RunE: func(c *cobra.Command, files []string) error { return runQuality(c.Context(), &f, files, s) },
	}
	flags := c.Flags()
	flags.StringVar(&f.db, "db", "", cmdline.DatabaseHelp)
	flags.StringVar(&f.today, "today", "", "the day from which ages count, as in 2026-11-23; \"\": the newest in the files")
	flags.Float64Var(&f.options.HalfLife, "half-life", 30, "after how many days a count weighs half; 0: it never weighs less")
	flags.Float64SliceVar(&f.options.Examination, "examination", nil, "how often users look at each position, as a part of the first's; none: estimated")
	flags.Float64Var(&f.options.Strength, "strength", 0, "how many own clicks weigh as much as the group or campaign; 0: estimated")
	flags.Float64Var(&f.options.Optimism, "optimism", 1, "how many standard deviations a quality is above what is expected")
	flags.Float64Var(&f.options.Explore, "explore", quality.DefaultExplore, "impressions at the top until a keyword may be rated below all others' mean; 0: none")
	flags.Float64Var(&f.scale, "scale", 0, "the click rate of one point of quality; 0: that by which one of twenty keywords has ten points")
	flags.UintSliceVar(&f.explain, "explain", nil, "show how the rates of these keywords came to be, by id")
	flags.BoolVar(&f.dryRun, "dry-run", false, "show what would change, keyword by keyword, and change nothing")
	flags.BoolVar(&f.json, "json", false, "print JSON, one object a line: the changes of --dry-run, explanations, then the summary")
	return c
}

func runQuality(ctx context.Context, f *qualityFlags, files []string, s cmdline.Streams) (err error) {
	if !(f.scale >= 0 && f.scale <= 1) {
		return cmdline.WrongUse("--scale %v: 0 to 1", f.scale)
	}
	if err := f.options.Validate(); err != nil {
		return cmdline.Usage(err)
	}
	o := revise.Options{Options: f.options, Scale: quality.Scale(f.scale)}
	for _, id := range f.explain {
		o.Find = append(o.Find, uint64(id))
	}
	if f.today != "" {
		if o.Today, err = countfile.ParseDay(f.today); err != nil {
			return cmdline.Usage(fmt.Errorf("--today: %w", err))
		}
	}
	if err := cmdline.CheckDatabase(f.db); err != nil {
		return err
	}
	if err := cmdline.Readable(files); err != nil {
		return err
	}
	counts, sum := new(quality.Counts), new(countfile.Summary)
	for _, name := range files {
		err := openFile(name, s, func(src io.Reader) error { return countfile.Read(src, name, counts, sum) })
		if err != nil {
			return err
		}
	}
	if f.today == "" {
		if o.Today = sum.Newest; sum.Rows > sum.Rejected && countfile.FormatDay(sum.Newest) > time.Now().AddDate(0, 0, 1).UTC().Format(time.DateOnly) {
			return fmt.Errorf("the newest day of the files, %s, is still to come, and on it all other counts would be old: mend its row, or give --today", countfile.FormatDay(sum.Newest))
		}
	}
	refused := counts.Refuse()
	store, err := database.Open(ctx, f.db, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	plan, err := revise.Make(ctx, store, counts, o)
	if err != nil {
		return err
	}
	for _, id := range f.explain {
		if _, err := toExplain(plan, uint64(id)); err != nil { // before anything is written
			return err
		}
	}
	show := qualityShower{s: s, f: f, plan: plan, sum: sum, refused: refused}
	written, err := writeQualities(ctx, f, store, plan, s)
	if e := show.all(written); err == nil {
		err = e
	}
	if err == nil && (sum.Rejected > 0 || len(refused) > 0) {
		err = cmdline.ErrRejects
	}
	return err
}

func qualityGivenCommand(s cmdline.Streams) *cobra.Command {
	var f qualityFlags
	c := &cobra.Command{
		Use:   "given --db URL",
		Short: "Serve all keywords with their given qualities again",
		Long: `Takes back all qualities that were learned: keywords are served with those that they were
given, which learning leaves as they are. A running cluster applies it as any change.

Set quality: given on the collectors first, or they learn again.`,
		Example: `  adshard quality given --db sqlite:ads.db --dry-run
  adshard quality given --db sqlite:ads.db`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runGiven(c.Context(), &f, s) },
	}
	c.Flags().StringVar(&f.db, "db", "", cmdline.DatabaseHelp)
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "say how many qualities would be taken back, and change nothing")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	return c
}

func runGiven(ctx context.Context, f *qualityFlags, s cmdline.Streams) (err error) {
	if err := cmdline.CheckDatabase(f.db); err != nil {
		return err
	}
	store, err := database.Open(ctx, f.db, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	plan, err := revise.Given(ctx, store, 0)
	if err != nil {
		return err
	}
	r, err := writeQualities(ctx, f, store, plan, s)
	if err != nil {
		return err
	}
	if f.json {
		return cmdline.PrintJSON(s, givenJSON{f.dryRun, len(plan.Changes), r.Written, plan.Left})
	}
	if f.dryRun {
		_, err = fmt.Fprintf(s.Out, "dry run, the database is unchanged: %d learned qualities would be taken back, %d keywords have none\n", len(plan.Changes), plan.Left)
		return err
	}
	_, err = fmt.Fprintf(s.Out, "%d learned qualities are taken back, %d keywords had none\n", r.Written, plan.Left)
	return err
}

// openFile calls read with a file, or with standard input if the name is "-".
func openFile(name string, s cmdline.Streams, read func(io.Reader) error) error {
	if name == "-" {
		return read(s.In)
	}
	file, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("cannot read the file of counts: %w", err)
	}
	defer func() { _ = file.Close() }() // only read
	return read(file)
}

func writeQualities(ctx context.Context, f *qualityFlags, store backend.Store, plan *revise.Plan, s cmdline.Streams) (revise.Result, error) {
	if f.dryRun {
		return revise.Result{}, nil
	}
	bar := progress.OnTerminal(s.Err)
	defer bar.End()
	return plan.Write(ctx, store, func(done int) {
		bar.Share("writing qualities", float64(done)/float64(len(plan.Changes)))
	})
}

type givenJSON struct {
	DryRun  bool `json:"dry_run"`
	Learned int  `json:"learned"` // qualities that were learned
	Taken   int  `json:"taken_back"`
	Given   int  `json:"given"` // keywords that had no learned quality
}
