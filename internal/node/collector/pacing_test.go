package collector_test

import (
	"sync/atomic"
	"testing"
	"time"

	"adshard/backend"
	"adshard/internal/node/collector"
)

// TestPacing: clicks that arrive too fast lower the share of a campaign with standard delivery,
// also for a second collector, but not that of an accelerated campaign. On the next day in the
// advertiser's time zone the share grows, and it reaches 100% when there are no more clicks.
func TestPacing(t *testing.T) {
	r := newRig(t, 2)
	tx, err := r.DB.Begin(t.Context())
	r.Must(err)
	r.Must(tx.UpdateAdvertiser(t.Context(), 1, backend.AdvertiserPatch{TimeZone: backend.To("Asia/Tokyo")}))
	_, err = tx.Campaign(t.Context(), 1, "C0", backend.CampaignPatch{StandardDelivery: backend.To(true)})
	r.Must(err)
	r.Must(tx.Commit(t.Context()))
	var at atomic.Int64
	morning := time.Date(2026, 11, 23, 21, 0, 0, 0, time.UTC) // 6:00 on the 24th in Tokyo
	at.Store(morning.Unix())
	now := func() time.Time { return time.Unix(at.Load(), 0) }
	c, second := r.runAt("collector-0", now), r.runAt("collector-1", now)
	for range 40 {
		for campaign := uint64(1); campaign <= 2; campaign++ {
			body := batch(event("click", r.signAt(r.ring(), campaign, 1000, now())))
			if status, a, text := r.post(c.URL(), body); status != 200 || a.Counted != 1 {
				t.Fatalf("%d %s", status, text)
			}
		}
		at.Add(15)
		r.pace(c, second)
	}
	throttled := r.share(1)
	if throttled > 200_000 || r.share(2) != backend.WholeShare || r.exhausted(1) {
		t.Fatalf("shares of %d and %d, exhausted %v", throttled, r.share(2), r.exhausted(1))
	}
	sums, err := c.Store().Sums(t.Context(), 0)
	if today := time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC).Unix() / 86400; err != nil || len(sums) != 2 || int64(sums[0].Day) != today {
		t.Errorf("%v, %v, the day is %d", sums, err, today)
	}
	at.Store(time.Date(2026, 11, 24, 15, 0, 0, 0, time.UTC).Unix()) // midnight in Tokyo
	for range 60 {
		r.pace(second, c)
		at.Add(5 * 60)
	}
	if got := r.share(1); got != backend.WholeShare {
		t.Errorf("five hours after midnight the share is %d", got)
	}
}

// pace makes collectors decide on shares.
func (r *rig) pace(collectors ...*collector.Collector) {
	r.TB.Helper()
	for _, c := range collectors {
		r.Must(c.Pace(r.TB.Context()))
	}
}

func (r *rig) share(campaign uint64) uint32 {
	r.TB.Helper()
	list, err := collector.Budgets(r.TB.Context(), r.DB, campaign)
	if err != nil || len(list) != 1 {
		r.TB.Fatal(list, err)
	}
	return list[0].Share
}

// TestShareKeepsMark: setting a share keeps the mark of a spent budget, whichever collector set it.
func TestShareKeepsMark(t *testing.T) {
	r := newRig(t, 1)
	r.Must(r.DB.SetBudget(t.Context(), 1, backend.BudgetMark{Exhausted: true}))
	r.Must(collector.SetShare(t.Context(), r.DB, 1, 300_000))
	if !r.exhausted(1) || r.share(1) != 300_000 {
		t.Errorf("exhausted %v, share %d", r.exhausted(1), r.share(1))
	}
}
