package report

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"adshard/backend"
	"adshard/events"
	"adshard/events/store"
	"adshard/fault"
	"adshard/internal/cli/cmdline"
	"adshard/internal/cli/terminal"
	"adshard/internal/progress"
	"adshard/quality/revise"
)

// EventsCommand returns the commands that maintain counted events.
func EventsCommand(s cmdline.Streams) *cobra.Command {
	c := cmdline.Group(&cobra.Command{
		Use:   "events",
		Short: "Maintain the database of events",
		Long:  "Maintains the database of events, which collectors count; `adshard report` shows what is in it.",
	})
	c.AddCommand(eventsEraseCommand(s))
	return c
}

func eventsEraseCommand(s cmdline.Streams) *cobra.Command {
	var db, url string
	var advertiser uint64
	var o cmdline.Outcome
	c := &cobra.Command{
		Use:   "erase --db URL --advertiser ID",
		Short: "Erase all that collectors have counted for an advertiser",
		Long: `Removes what the database of events has of an advertiser, for good: its single events with
hashes of queries, its counts by keyword, ad, position and day, and what both are in the sums by
campaign. Qualities of its keywords that were learned are taken back, with the counts that they
were learned from; those that were given stay. The advertiser's data are not events: remove the
advertiser by an import, before or after.

From the first moment on tokens of ads of this advertiser that were served until a minute from now
count no more: they are answered "late". What is served later counts anew, and campaigns that go on
have all of their budget of the day again: pause or remove them first.

Collectors may run. An erasure that was killed is run again and removes the rest; nothing of other
advertisers changes. When it begins and when it ends, a line on standard error says what was
erased, for your records. Backups still have what they had.

Exit status: 0 done; 1 it failed, run it again; 2 invalid arguments.`,
		Example: `  adshard events erase --db sqlite:ads.db --advertiser 7
  adshard events erase --db postgres://collector@db/ads --advertiser 7 2>>erasures.log`,
		Args: cmdline.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return runErase(c.Context(), db, url, advertiser, o, s)
		},
	}
	c.Flags().StringVar(&db, "db", "", cmdline.DatabaseHelp)
	c.Flags().StringVar(&url, "events", "", eventsHelp)
	c.Flags().Uint64Var(&advertiser, "advertiser", 0, "the advertiser's id, as in answers and reports")
	o.Flag(c)
	cmdline.WithoutVariable(c.Flags(), "advertiser")
	return c
}

func runErase(ctx context.Context, db, url string, advertiser uint64, o cmdline.Outcome, s cmdline.Streams) (err error) {
	if e := (store.Erasure{Advertiser: advertiser}); e.Validate() != nil {
		return cmdline.WrongUse("--advertiser is missing or no id: give the advertiser's number")
	}
	log, err := cmdline.NewLog(s.Err, "info", "text")
	if err != nil {
		return err
	}
	data, counted, err := openCounted(ctx, db, url, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, counted.Close(), data.Close()) }()
	name, campaigns, err := ownedBy(ctx, data, advertiser)
	if err != nil {
		return err
	}
	log.Info("erasing events", "advertiser", advertiser, "name", name)
	bar := progress.OnTerminal(s.Err)
	did, refused, err := events.Erase(ctx, counted, advertiser, campaigns, time.Now(), func(did store.Step) {
		bar.Count("events and counts removed", uint64(did.Events+did.Counts), 0, terminal.Grouped)
	})
	bar.End()
	if err != nil {
		log.Error("events are erased in part: run it again", "advertiser", advertiser, "events", did.Events, "counts", did.Counts)
		return err
	}
	unlearned, err := revise.Unlearn(ctx, data, advertiser)
	if err != nil {
		log.Error("events are erased, learned qualities are not, or in part: run it again", "advertiser", advertiser, "events", did.Events,
			"counts", did.Counts, "qualities", unlearned.Written)
		return err
	}
	log.Info("events are erased", "advertiser", advertiser, "name", name, "events", did.Events, "counts", did.Counts, "qualities", unlearned.Written,
		"refused_until", refused.UTC().Format(time.RFC3339))
	return o.Print(s, erasedJSON{advertiser, did.Events, did.Counts, unlearned.Written, refused.UTC()}, func() error {
		_, err := fmt.Fprintf(s.Out, "erased %s and %s by keyword and day of advertiser %d, and took back %d learned qualities; tokens of ads served before %s count no more\n",
			terminal.Many(uint64(did.Events), "event"), terminal.Many(uint64(did.Counts), "count"), advertiser, unlearned.Written, refused.UTC().Format(time.RFC3339))
		return err
	})
}

type erasedJSON struct {
	Advertiser   uint64    `json:"advertiser_id"`
	Events       int       `json:"events"`
	Counts       int       `json:"counts"`
	Qualities    int       `json:"qualities"`
	RefusedUntil time.Time `json:"refused_until"`
}

// ownedBy returns the name and the campaigns of an advertiser. A removed advertiser has none.
func ownedBy(ctx context.Context, db backend.Store, advertiser uint64) (name string, campaigns []uint64, err error) {
	snapshot, err := db.Snapshot(ctx)
	if err != nil {
		return "", nil, err
	}
	defer func() { err = errors.Join(err, snapshot.Close()) }()
	list, err := snapshot.Advertisers(ctx, []uint64{advertiser})
	if err != nil && !fault.Is(err, fault.Corrupt) {
		return "", nil, err
	}
	if len(list) > 0 {
		name = list[0].Name
	}
	owned := make(map[uint64]bool)
	for g, err := range snapshot.Groups(ctx) {
		if err != nil {
			return "", nil, err
		}
		if g.AdvertiserID == advertiser {
			owned[g.CampaignID] = true
		}
	}
	for c := range owned {
		campaigns = append(campaigns, c)
	}
	slices.Sort(campaigns)
	return name, campaigns, nil
}
