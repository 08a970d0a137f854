package report

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"adshard/auction"
	"adshard/backend"
	"adshard/events/store"
	"adshard/internal/cli/cmdline"
	"adshard/internal/node/database"
	"adshard/internal/outfile"
	"adshard/internal/version"
	"adshard/quality"
	"adshard/quality/countfile"
	"adshard/quality/train"
)

type trainFlags struct {
	db, events, since, out string
	json                   bool
	options                train.Options
}

// trainer is the beginning of the text in which a model describes itself.
const trainer = "adshard quality train"

func qualityTrainCommand(s cmdline.Streams) *cobra.Command {
	var f trainFlags
	c := &cobra.Command{
		Use:   "train --db URL [FILE...]",
		Short: "Train a scorer's model from impressions and clicks",
		Long: `Trains a model that a scorer multiplies qualities by (docs/scorer.md), and compares it with none on
keywords that it was not trained on: one of five. It is written to --out if it is better by twice the
standard error of the gain; without --out it is only compared. The database is not changed.

Without files it is trained on what collectors have counted. That says of requests only the weekday;
the other features are the keyword's: match (its type), words (their number), quality, advertiser,
campaign.
Files are those of "adshard quality learn"; with the columns device, hour (UTC), query_words or site
(a host, or nothing) the model has weights for these as well. A feature is used if all rows have it.

A factor says what quality and position do not: that users look less at lower positions is taken off,
and clicks are expected in proportion to the quality with which a keyword is served now. So train again
after qualities were learned. The mean factor is 1000 permille: on average ranks and prices stay.

CALIBRATION, of the keywords held out in five parts by their factor: the clicks that quality alone lets
expect, those expected with the model, and those that were counted. With a good model the last two are
near each other. If the model is not better, train on more counts, choose fewer --features, or raise
--strength, which is how many clicks must be expected of a value for its own to weigh as much as the
assumption that it makes no difference.

To use the model, name it as scorer in the configuration of masters and slaves, or with
"adshard up --scorer"; a file that is replaced is in use seconds later.

Exit status: 0 done; 1 it failed, or the model is not better than none; 2 invalid arguments; 3 some rows
were rejected, or counts refused; the model is of the others.`,
		Example: `  adshard quality train --db sqlite:ads.db
  adshard quality train --db sqlite:ads.db --since 2026-09-01 --out model.json
  adshard quality train --db sqlite:ads.db --features match,device,hour --out model.json counts.csv`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, files []string) error { return runTrain(c.Context(), &f, files, s) },
	}
	flags := c.Flags()
	flags.StringVar(&f.db, "db", "", cmdline.DatabaseHelp)
	flags.StringVar(&f.events, "events", "", eventsHelp)
	flags.StringVar(&f.since, "since", "", "the first day, as in 2026-11-23; \"\": all")
	flags.StringVar(&f.out, "out", "", "the file of the model; \"\": none is written")
	flags.StringSliceVar(&f.options.Features, "features", nil, "the features that get weights; none: all that the counts say")
	flags.Float64Var(&f.options.Strength, "strength", train.DefaultStrength, "how many clicks must be expected of a value to weigh as much as none")
	flags.Float64SliceVar(&f.options.Examination, "examination", nil, "how often users look at each position, as a part of the first's; none: estimated")
	flags.BoolVar(&f.json, "json", false, "print JSON")
	return c
}

func (f *trainFlags) output() outfile.Output {
	return outfile.Output{Flag: "--out", Path: f.out, Kind: outfile.Kind{Name: "a trained model", Is: outfile.Begins(`{"format":1,"about":"` + trainer)}}
}

func runTrain(ctx context.Context, f *trainFlags, files []string, s cmdline.Streams) error {
	if err := f.check(files); err != nil {
		return err
	}
	set, sum := new(train.Set), new(countfile.Summary)
	if err := f.count(ctx, files, set, sum, s); err != nil {
		return err
	}
	r, err := train.Train(set, f.options)
	if err == nil && f.out != "" {
		err = f.output().WriteBytes(r.File)
	}
	if r != nil && r.File != nil {
		err = errors.Join(err, f.show(r, err == nil, s))
	}
	w := qualityShower{s: s, sum: sum}
	if r != nil {
		w.refused = r.Refused
	}
	w.rejects()
	if err == nil && (sum.Rejected > 0 || len(w.refused) > 0) {
		err = cmdline.ErrRejects
	}
	return err
}

// check returns an error for wrong flags, before anything is read.
func (f *trainFlags) check(files []string) error {
	f.options.By = trainer + " " + version.Current().Version
	if err := f.options.Validate(); err != nil {
		return cmdline.Usage(err)
	}
	if f.events != "" && len(files) > 0 {
		return cmdline.WrongUse("--events: the counts are of the files that are named")
	}
	if err := cmdline.CheckDatabase(f.db); err != nil {
		return err
	}
	path, err := cmdline.DatabasePath(f.db)
	if err != nil {
		return err
	}
	if err := cmdline.Readable(files); err != nil {
		return err
	}
	return cmdline.Refused(outfile.Check(slices.Concat(outfile.Inputs(files...), outfile.Database(path)), f.output()))
}

// count reads the counts, from files or from collectors, and the keywords' data from the database.
func (f *trainFlags) count(ctx context.Context, files []string, set *train.Set, sum *countfile.Summary, s cmdline.Streams) (err error) {
	since := store.Day(-1 << 31)
	if f.since != "" {
		if since, err = reportDay("--since", f.since); err != nil {
			return err
		}
	}
	var db backend.Store
	if len(files) == 0 {
		var counted store.Store
		if db, counted, err = openCounted(ctx, f.db, f.events, true); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, counted.Close(), db.Close()) }()
		err = countedBy(ctx, counted, since, set)
	} else {
		if db, err = database.OpenReading(ctx, f.db); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, db.Close()) }()
		err = countedIn(files, since, set, sum, s)
	}
	if err != nil {
		return err
	}
	return know(ctx, db, set)
}

// countedBy adds the counts of collectors.
func countedBy(ctx context.Context, counted store.Store, since store.Day, set *train.Set) error {
	q := store.Query{By: store.ByPlace, Daily: true, From: since, To: 1<<31 - 1}
	return counted.Report(ctx, q, func(r store.Row) error {
		if r.Position < 1 || r.Position > quality.MaxPosition { // 0: counted by a version that did not record positions
			return nil
		}
		return set.Add(&train.Row{
			Keyword: r.Keyword, Ad: r.Ad, Position: r.Position, Day: int32(r.Day), Count: quality.Count{Impressions: r.Impressions, Clicks: r.Clicks},
		})
	})
}

// countedIn adds the counts in files.
func countedIn(files []string, since store.Day, set *train.Set, sum *countfile.Summary, s cmdline.Streams) error {
	for _, name := range files {
		err := openFile(name, s, func(src io.Reader) error {
			return countfile.Each(src, name, sum, func(r *countfile.Row) error {
				if r.Cell.Day < int32(since) {
					return nil
				}
				return set.Add(&train.Row{
					Keyword: r.Cell.Keyword, Ad: r.Cell.Ad, Position: r.Cell.Position, Day: r.Cell.Day, Count: r.Count, Request: r.Request, Says: r.Says,
				})
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// know adds the database's data of the keywords that were counted.
func know(ctx context.Context, db backend.Store, set *train.Set) (err error) {
	snapshot, err := db.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, snapshot.Close()) }()
	for it, err := range snapshot.All(ctx) {
		if err != nil {
			return err
		}
		for i := range it.Keywords {
			k := &it.Keywords[i]
			if !set.Wants(k.ID) {
				continue
			}
			set.Know(k.ID, train.Keyword{Group: it.Group.ID, Features: auction.Features{
				Match: uint8(k.Type), Words: uint8(len(strings.Fields(k.Words))), Quality: k.Served(),
				Advertiser: it.Group.AdvertiserID, Campaign: it.Group.CampaignID,
			}})
		}
	}
	return nil
}
