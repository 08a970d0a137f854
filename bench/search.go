package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"adshard/bench/layouts"
	"adshard/bench/measure"
	"adshard/bench/paired"
	"adshard/internal/outfile"
	"adshard/internal/progress"
)

// searchFlags are the flags of `adbench search`.
type searchFlags struct {
	setFlags
	sizes                  []int64
	layouts, peers, setups []string
	seconds                float64
	rounds, changes        int
	once                   bool
	threads                string
	cacheShare, changeRate float64
	join                   []string
	json, html, points     string
}

// SearchCommand returns the subcommand search, which measures layouts of
// keywords and other systems side by side.
func SearchCommand() *cobra.Command {
	var f searchFlags
	c := &cobra.Command{
		Use:   "search [--keywords N,…] [--layouts A,B,…] [--peers A,B,…] [--setups A,B,…]",
		Short: "Measure layouts of keywords and other systems side by side",
		Long: `Measures how fast keywords that match a query are found, by how they lie: the
layouts of the master thesis' first experiment, the product's own, the limit that
the hardware sets, and other systems.

All are built from the same keywords in this one process and asked the same
queries. First each query's matches are counted by looking at every keyword;
a layout that finds another number ends the run. Then every layout has its turn in each of
several rounds, in another order each time. Figures are medians of the rounds,
with the extremes; ratios are medians of the rounds' own ratios.

Layouts:
` + names(allLayouts()) + `
Peers:
` + names(allPeers()) + `
A peer that needs something which this machine lacks is reported and left out.

Setups (queries; a name, or its first word for all that begin so, or all):
` + setupHelp + `
Keywords (--set): those of a corpus as ` + "`adbench corpus`" + ` makes it; or made of it
shared-word, where all have one word in common, only-common, where all are made
of the 32 commonest words, one-advertiser, where all are one advertiser's.

With --cache-share a layout is built with a cache of that share of its own data,
and the system is asked every 20 ms to drop the pages of its files, so that what
is not in the cache is read from the disk. (Mapped files cannot be dropped that
way; to limit all memory, run this program in a memory cgroup, as with
systemd-run --scope -p MemoryMax=2G.)

All layouts are open at the same time: at 10,000,000 keywords name a few at a
time, and join the results.`,
		Example: `  adbench search --keywords 100000 --layouts served,floor,RDB-Pr-Fl-Opt --html page.html
  adbench search --keywords 1000000 --layouts served,served-top,floor --peers postgres,lucene --setups all
  adbench search --keywords 100000,1000000 --setups matches,words --json growth.json --html growth.html
  adbench search --layouts served,RDB-Pr-Fl-Opt --cache-share 0.1 --threads all
  adbench search --layouts served --change-rate 50000 --seconds 300
  adbench search --join growth.json,cold.json --html all.html`,
		Args: f.check,
		RunE: func(c *cobra.Command, _ []string) error {
			return f.run(c.Context(), c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	f.define(c.Flags())
	return c
}

// define defines the flags.
func (f *searchFlags) define(flags *pflag.FlagSet) {
	flags.Int64SliceVar(&f.sizes, "keywords", []int64{100_000}, "number of keywords; several: one after the other")
	flags.StringSliceVar(&f.layouts, "layouts", []string{"all"}, "layouts, see above, or all, or none")
	flags.StringSliceVar(&f.peers, "peers", nil, "other systems, see above, or all")
	flags.StringSliceVar(&f.setups, "setups", []string{"log"}, "the queries, see above")
	flags.Float64Var(&f.seconds, "seconds", 5, "how long a layout is asked on a setup, all rounds together")
	flags.IntVar(&f.rounds, "rounds", 5, "how many turns each layout has")
	flags.StringVar(&f.threads, "threads", "1", "how many threads ask at the same time: a number, or all for one on each core")
	flags.Float64Var(&f.cacheShare, "cache-share", 0, "share of its data on disk that a layout may keep in memory; 0: all")
	flags.IntVar(&f.changes, "changes", 0, "how many of 100 operations change a keyword meanwhile")
	flags.Float64Var(&f.changeRate, "change-rate", 0, "keywords a second that are changed meanwhile")
	flags.BoolVar(&f.once, "once", true, "also measure rows named “…, once”: a store that was just built is asked half of the queries to warm up, then each of the others once")
	flags.StringSliceVar(&f.join, "join", nil, "measure nothing; show the results in these files, which --json wrote, as one")
	flags.StringVar(&f.json, "json", "", "write the result to this file")
	flags.StringVar(&f.html, "html", "", "write a page with charts to this file")
	flags.StringVar(&f.points, "points", "", "write the product's targets and what the result has of them to this file, as Markdown")
	f.setFlags.flags(flags)
}

// check rejects invalid flags before anything is made.
func (f *searchFlags) check(c *cobra.Command, args []string) error {
	for _, n := range f.sizes {
		if n < 1 || n > 1_000_000_000 {
			return fmt.Errorf("--keywords %d: 1 to 1,000,000,000", n)
		}
	}
	switch {
	case f.seconds <= 0 || f.seconds > 86_400:
		return fmt.Errorf("--seconds %g: more than 0, up to a day", f.seconds)
	case f.rounds < 1 || f.rounds > 1000:
		return fmt.Errorf("--rounds %d: 1 to 1000; 5 or more show a spread", f.rounds)
	case f.changes < 0 || f.changes > 90:
		return fmt.Errorf("--changes %d: 0 to 90 of 100 operations", f.changes)
	case f.changeRate < 0:
		return fmt.Errorf("--change-rate %g: 0 or more keywords a second", f.changeRate)
	case f.changes > 0 && f.changeRate > 0:
		return errors.New("--changes and --change-rate say the same in two ways: choose one")
	case f.cacheShare < 0 || f.cacheShare >= 1:
		return fmt.Errorf("--cache-share %g: 0 for all, or less than 1, such as 0.1", f.cacheShare)
	case f.queries < 1 || f.queries > 1_000_000:
		return fmt.Errorf("--query-count %d: 1 to 1,000,000", f.queries)
	}
	if _, err := f.threadCount(); err != nil {
		return err
	}
	if _, _, err := f.chosen(); err != nil {
		return err
	}
	if _, err := f.maker(); err != nil {
		return err
	}
	if _, err := setupNames(f.setups); err != nil {
		return err
	}
	if err := outfile.Check(outfile.Inputs(f.join...), jsonOf("search", f.json),
		pageTo(f.html), pointsTo(f.points)); err != nil {
		return err
	}
	return cobra.NoArgs(c, args)
}

func (f *searchFlags) threadCount() (int, error) {
	if f.threads == "all" {
		return runtime.NumCPU(), nil
	}
	n, err := strconv.Atoi(f.threads)
	if err != nil || n < 1 || n > 1000 {
		return 0, fmt.Errorf("--threads %s: a number from 1 to 1000, or all", f.threads)
	}
	return n, nil
}

// chosen returns the layouts and peers that the flags name.
func (f *searchFlags) chosen() (own, others []layouts.Layout, err error) {
	if own, err = choose("--layouts", "layout", allLayouts(), f.layouts); err != nil {
		return nil, nil, err
	}
	if others, err = choose("--peers", "peer", allPeers(), f.peers); err != nil {
		return nil, nil, err
	}
	if len(own)+len(others) == 0 {
		return nil, nil, errors.New("neither --layouts nor --peers names anything: name at least one")
	}
	return own, others, nil
}

func (f *searchFlags) run(ctx context.Context, out, told io.Writer) error {
	var result *paired.Result
	var err error
	if len(f.join) > 0 {
		result, err = paired.Join(f.join...)
	} else {
		result, err = f.measure(ctx, told)
	}
	if err != nil {
		return err
	}
	for _, made := range result.Runs {
		fmt.Fprintf(out, "$ %s\n", made.Command)
	}
	if err := result.WriteTable(out); err != nil {
		return err
	}
	return f.write(result)
}

// measure measures with each number of keywords.
func (f *searchFlags) measure(ctx context.Context, told io.Writer) (_ *paired.Result, err error) {
	p := progress.New(told)
	defer p.End()
	dir, remove, err := f.directory()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	all := &paired.Result{Runs: []paired.Made{{
		Command: newReport("search").Command, Machine: measure.Machine(), Date: time.Now().UTC().Format(time.DateOnly),
		Commit: measure.Commit(), Load: measure.Load(), Rounds: f.rounds, Seconds: f.seconds, Notes: f.notes(),
	}}}
	for _, n := range f.sizes {
		one, err := f.measureSize(ctx, n, dir, p)
		if err != nil {
			return nil, err
		}
		all.Add(one)
	}
	return all, nil
}

// notes returns what a reader of the result has to know about the conditions.
func (f *searchFlags) notes() (out []string) {
	if f.cacheShare > 0 {
		out = append(out, fmt.Sprintf("What lies on disk: each layout may keep %g %% of its own in memory; every 20 ms the system is asked to drop the pages of its files (posix_fadvise). Files that are mapped, and what lies in memory only, are not limited.", 100*f.cacheShare))
	}
	if f.changes > 0 || f.changeRate > 0 {
		out = append(out, "Whole ad groups change, and get the words of others; a round has a turn at rest, then one with changes; all answers were compared afterwards.")
	}
	if len(f.peers) > 0 {
		out = append(out, "Peers in processes of their own say themselves how long a search took; the way there and back is not counted.")
	}
	return out
}

func (f *searchFlags) measureSize(ctx context.Context, keywords int64, dir string, p *progress.Line) (_ *paired.Result, err error) {
	set, setups, lacking, err := f.setOf(ctx, keywords, f.setups, dir, p)
	if err != nil {
		return nil, err
	}
	stores, removeStores, err := temporaryIn(dir, "stores")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, removeStores()) }()
	own, others, err := f.chosen()
	if err != nil {
		return nil, err
	}
	threads, err := f.threadCount()
	if err != nil {
		return nil, err
	}
	result, err := paired.Run(ctx, &paired.Plan{
		Set: set, Once: f.once, Setups: setups, Layouts: own, Peers: others, Rounds: f.rounds,
		Time: time.Duration(f.seconds * float64(time.Second)), Threads: threads, CacheShare: f.cacheShare,
		Changes: paired.Changes{Share: float64(f.changes) / 100, Rate: f.changeRate}, Dir: stores, Progress: p.Share,
	})
	if err != nil {
		return nil, err
	}
	for _, l := range lacking {
		result.Absent = append(result.Absent, paired.Absent{Name: "setup " + l.Name, Why: l.Why})
	}
	return result, nil
}

// write writes the files that the flags ask for.
func (f *searchFlags) write(r *paired.Result) error {
	if f.json != "" {
		if err := r.WriteFile(f.json); err != nil {
			return fmt.Errorf("cannot write the result: %w", err)
		}
	}
	if err := writePage(f.html, r.WritePage); err != nil {
		return fmt.Errorf("cannot write the page: %w", err)
	}
	if f.points == "" {
		return nil
	}
	if err := pointsTo(f.points).Write(r.Points().WriteMarkdown); err != nil {
		return fmt.Errorf("cannot write the points: %w", err)
	}
	return nil
}

// pointsTo returns the output for the table of the product's targets.
func pointsTo(path string) outfile.Output {
	return outfile.Output{Flag: "--points", Path: path, Kind: outfile.Kind{Name: "a table of targets", Is: outfile.Begins("| what | ")}}
}
