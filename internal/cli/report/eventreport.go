package report

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"adshard/backend"
	"adshard/events"
	eventreport "adshard/events/report"
	"adshard/events/store"
	"adshard/fault"
	"adshard/internal/cli/cmdline"
	"adshard/internal/node/collector"
	"adshard/internal/node/database"
	"adshard/quality/countfile"
)

type reportFlags struct {
	db, events, by, since, until, advertiser string
	daily, csv, json                         bool
}

// ReportCommand returns the command that shows clicks and spend.
func ReportCommand(s cmdline.Streams) *cobra.Command {
	var f reportFlags
	c := &cobra.Command{
		Use:   "report --db URL --by campaign|keyword|query --since DAY",
		Short: "Report impressions, clicks and spend that collectors have counted",
		Long: `Adds up the impressions and clicks that collectors have counted, and what the clicks cost, by
campaign, keyword or query. Days are those of each advertiser's time zone on which the ads
were served. The report is of one moment; collectors may go on counting.

Collectors know queries only by hashes of their words. --by query therefore names those that
are word for word a keyword of the campaign (another case of letters does not count), and adds
up the others of each campaign: QUERIES is how many there were. Queries are kept only as long
as single events (keep_events of the collector): older counts are a line "no longer kept".

As text, the 50 lines with the largest spend are listed, then the sum of all. --csv and --json
give all lines, by ascending ids, with the ids of what they are about; in memory are no more than
the keywords of one campaign. Names are those of now; what was removed has none.

Exit status: 0 done; 1 it failed; 2 invalid arguments.`,
		Example: `  adshard report --db sqlite:ads.db --by campaign --since 2026-11-01 --until 2026-11-30
  adshard report --db sqlite:ads.db --by keyword --since 2026-11-23 --advertiser Acme
  adshard report --db postgres://collector@db/ads --by campaign --daily --since 2026-11-01 --csv >november.csv
  adshard report --db sqlite:ads.db --by query --since 2026-11-23 --json | jq .line.query`,
		Args: cmdline.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runReport(c.Context(), &f, s) },
	}
	flags := c.Flags()
	flags.StringVar(&f.db, "db", "", cmdline.DatabaseHelp)
	flags.StringVar(&f.events, "events", "", eventsHelp)
	flags.StringVar(&f.by, "by", "", "what a line is about: campaign, keyword or query")
	flags.StringVar(&f.since, "since", "", "the first day, as in 2026-11-23")
	flags.StringVar(&f.until, "until", "", "the last day; \"\": all that follow")
	flags.StringVar(&f.advertiser, "advertiser", "", "the advertiser, by id or name; \"\": all")
	flags.BoolVar(&f.daily, "daily", false, "a line for each day")
	flags.BoolVar(&f.csv, "csv", false, "print CSV")
	flags.BoolVar(&f.json, "json", false, "print JSON, one object a line: the lines, then the sum")
	return c
}

const eventsHelp = "the database of events; \"\": beside db (a file PATH-events, a schema adshard_events)"

// query returns the query that the flags ask for, without the advertiser.
func (f *reportFlags) query() (q store.Query, err error) {
	by, ok := map[string]store.Grouping{"campaign": store.ByCampaign, "keyword": store.ByKeyword, "query": store.ByQuery}[f.by]
	switch {
	case !ok:
		return q, cmdline.WrongUse("--by %s: it is campaign, keyword or query", f.by)
	case f.since == "":
		return q, cmdline.WrongUse("--since is missing: name the first day, as in 2026-11-23")
	case f.csv && f.json:
		return q, cmdline.WrongUse("--csv and --json: choose one")
	}
	q = store.Query{By: by, Daily: f.daily, To: 1<<31 - 1}
	if q.From, err = reportDay("--since", f.since); err == nil && f.until != "" {
		q.To, err = reportDay("--until", f.until)
	}
	if err == nil && q.To < q.From {
		err = cmdline.WrongUse("--until %s is before --since %s", f.until, f.since)
	}
	return q, err
}

func reportDay(flag, text string) (store.Day, error) {
	day, err := countfile.ParseDay(text)
	if err != nil {
		return 0, cmdline.WrongUse("%s: %q is not a day such as 2026-11-23", flag, text)
	}
	return store.Day(day), nil
}

func runReport(ctx context.Context, f *reportFlags, s cmdline.Streams) (err error) {
	q, err := f.query()
	if err != nil {
		return err
	}
	db, counted, err := openCounted(ctx, f.db, f.events, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, counted.Close(), db.Close()) }()
	snapshot, err := db.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, snapshot.Close()) }()
	if f.advertiser != "" {
		if q.Advertiser, err = advertiserOf(ctx, snapshot, f.advertiser); err != nil {
			return err
		}
	}
	w := newReportWriter(s, f, q)
	damaged, err := eventreport.Run(ctx, counted, snapshot, q, w.line)
	if err != nil {
		return err
	}
	return w.end(damaged)
}

// openCounted opens a database and the database of its events. Both must exist and belong together. With `reading`
// nothing is changed in them. Unless the events are named explicitly, they must be the database in which collectors
// count.
func openCounted(ctx context.Context, url, of string, reading bool) (db backend.Store, counted store.Store, err error) {
	isDefault := of == ""
	if err := cmdline.CheckDatabase(url); err != nil {
		return nil, nil, err
	}
	if isDefault {
		of = collector.EventsOf(url)
	}
	path, err := cmdline.DatabasePath(of)
	if err != nil {
		return nil, nil, cmdline.WrongUse("--events: this is not a database URL; write sqlite:PATH or postgres://USER@HOST/DATABASE") // the text may have a password
	}
	if path != "" && !cmdline.Exists(path) {
		return nil, nil, cmdline.WrongUse("there are no events at %s: a collector makes the file; --events names another one", path)
	}
	open, openEvents := database.OpenReading, database.OpenEventsReading
	if !reading {
		open = func(ctx context.Context, url string) (backend.Store, error) { return database.Open(ctx, url, false) }
		openEvents = database.OpenEvents
	}
	if db, err = open(ctx, url); err != nil {
		return nil, nil, err
	}
	if counted, err = openEvents(ctx, of); err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	id, err := db.ID(ctx)
	if err == nil {
		err = counted.Claim(ctx, id)
	}
	if err == nil && isDefault {
		err = checkCounts(ctx, db, counted)
	}
	if err != nil {
		return nil, nil, errors.Join(err, counted.Close(), db.Close())
	}
	return db, counted, nil
}

// checkCounts returns an error if collectors count in another database of events.
func checkCounts(ctx context.Context, db backend.Store, counted store.Store) error {
	name, err := events.Name(ctx, db)
	if err != nil || name == "" {
		return err
	}
	own, err := counted.ID(ctx)
	if err == nil && own != name {
		err = fault.Newf(fault.Conflict, "events", "collectors count in another database of events (%.40s) than the one beside the database (%.40s): name it with --events, or this one to have it all the same", name, own)
	}
	return err
}

// advertiserOf returns the id of an advertiser that is given by id or name. A removed advertiser can still be given
// by its id.
func advertiserOf(ctx context.Context, s backend.Snapshot, text string) (uint64, error) {
	list, err := s.Advertisers(ctx, nil)
	if err != nil {
		return 0, err
	}
	for _, a := range list {
		if a.Name == text {
			return a.ID, nil
		}
	}
	id, err := strconv.ParseUint(text, 10, 63)
	if err != nil || id == 0 {
		return 0, cmdline.WrongUse("--advertiser %s: there is no advertiser of this name; one that was removed is named by its id", text)
	}
	return id, nil
}

// dayText returns a day as text, as in 2026-11-23.
func dayText(d store.Day) string { return time.Unix(int64(d)*24*60*60, 0).UTC().Format(time.DateOnly) }
