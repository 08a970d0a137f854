package collector_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"adshard/backend"
	"adshard/events/store"
	"adshard/internal/node/collector"
)

// click sends a click on a campaign at a price and checks that it counts.
func (r *rig) click(c *collector.Collector, campaign, price uint64, served time.Time) {
	r.TB.Helper()
	body := batch(event("click", r.signAt(r.ring(), campaign, price, served)))
	if status, a, text := r.post(c.URL(), body); status != 200 || a.Counted != 1 {
		r.TB.Fatalf("%d %s", status, text)
	}
}

// marked waits until a campaign is marked because of a click. Sweeps of all campaigns must be off.
func (r *rig) marked(campaign uint64) {
	r.TB.Helper()
	if !r.noSweeps {
		r.TB.Fatal("it may be marked by a look at all campaigns")
	}
	eventually(r.TB, "no click has led to a mark", func() bool { return r.exhausted(campaign) })
}

func (r *rig) setBudget(campaign string, micros uint64) {
	r.TB.Helper()
	tx, err := r.DB.Begin(r.TB.Context())
	r.Must(err)
	defer tx.Rollback()
	_, err = tx.Campaign(r.TB.Context(), 1, campaign, backend.CampaignPatch{DailyBudget: backend.To(micros)})
	r.Must(err)
	r.Must(tx.Commit(r.TB.Context()))
}

// TestCountedByAnother: a collector recorded the click that spends a budget and was killed before it could
// mark the campaign. The click is sent again to another collector, which marks the campaign without a sweep
// of all campaigns.
func TestCountedByAnother(t *testing.T) {
	r := newRig(t, 1)
	r.noSweeps = true
	c := r.run("collector-0")
	token := r.token(1, 60_000)
	r.countElsewhere(token)
	time.Sleep(3 * collector.CheckEvery)
	if r.exhausted(1) {
		t.Fatal("it is marked before anybody says so: this test shows nothing")
	}
	if status, a, text := r.post(c.URL(), batch(event("click", token))); status != 200 || a.Duplicate != 1 {
		t.Fatalf("%d %s", status, text)
	}
	r.marked(1)
}

// countElsewhere counts a click in the database of events, as a collector does that is killed right
// afterwards.
func (r *rig) countElsewhere(sent string) {
	r.TB.Helper()
	opened, id, err := r.ring().Open([]byte(sent))
	r.Must(err)
	s := r.events()
	defer s.Close()
	day := store.Day(opened.Served.Unix() / (24 * 60 * 60))
	out, err := s.Add(r.TB.Context(), []store.Event{{ID: id, Kind: store.Click, Day: day, Token: opened}})
	r.Must(err)
	if out[0] != store.Counted {
		r.TB.Fatalf("%v", out)
	}
}

// TestBudgetBelowSpend: a budget that is set below what was already spent ends with the next sweep of all
// campaigns. Nothing that was counted is taken back.
func TestBudgetBelowSpend(t *testing.T) {
	r := newRig(t, 1)
	c := r.run("collector-0")
	r.click(c, 1, 40_000, time.Now())
	r.Must(c.Sweep(t.Context()))
	if r.exhausted(1) {
		t.Fatal("marked with a fifth of its budget left")
	}
	r.setBudget("C0", 30_000)
	r.Must(c.Sweep(t.Context()))
	if sum := total(t, c.Store()); !r.exhausted(1) || sum.Spend != 40_000 {
		t.Errorf("exhausted %v, spend %d", r.exhausted(1), sum.Spend)
	}
}

// TestFlood: each event of a flood on one campaign counts once, and its budget ends without a sweep of all
// campaigns. So does the budget of another campaign that gets a single click meanwhile.
func TestFlood(t *testing.T) {
	const batches, clients = 40, 4
	r := newRig(t, 2)
	r.noSweeps = true
	r.setBudget("C0", 1000*100)
	c := r.run("collector-0")
	ring := r.ring()
	bodies := make(chan string, batches)
	for range batches {
		list := make([]string, collector.MaxEvents/10)
		for i := range list {
			list[i] = event("click", r.sign(ring, 1, 100))
		}
		bodies <- batch(list...)
	}
	close(bodies)
	flood := make(chan error, clients)
	for range clients {
		go func() { flood <- sendAll(c.URL(), bodies) }()
	}
	r.marked(1)
	r.click(c, 2, 50_000, time.Now())
	r.marked(2)
	for range clients {
		r.Must(<-flood)
	}
	want := uint64(batches*collector.MaxEvents/10 + 1)
	if sum := total(t, c.Store()); sum.Clicks != want || sum.Spend != (want-1)*100+50_000 {
		t.Errorf("%+v, want %d clicks", sum, want)
	}
}

// TestClockOfAnotherDay: collectors whose clocks show different days disagree about the mark of a campaign.
// When the clock is correct again, the mark is as it should be, and each click counts on the day on which its
// ad was served.
func TestClockOfAnotherDay(t *testing.T) {
	r := newRig(t, 1)
	r.noSweeps = true
	var at, wrong atomic.Int64
	noon := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	at.Store(noon.Unix())
	wrong.Store(noon.Add(24 * time.Hour).Unix())
	c := r.runAt("collector-0", func() time.Time { return time.Unix(at.Load(), 0) })
	ahead := r.runAt("collector-1", func() time.Time { return time.Unix(wrong.Load(), 0) })
	r.click(c, 1, 60_000, noon)
	r.marked(1)
	r.Must(ahead.Sweep(t.Context()))
	if r.exhausted(1) {
		t.Fatal("by the clock that is ahead it is tomorrow, and the mark stays: this test shows nothing")
	}
	r.Must(c.Sweep(t.Context()))
	if !r.exhausted(1) {
		t.Error("its budget of today is spent, and it is not marked again")
	}
	wrong.Store(noon.Unix())
	r.Must(ahead.Sweep(t.Context()))
	if !r.exhausted(1) {
		t.Error("the clock is right again, and the mark is taken back")
	}
	// The clock goes back: what was counted stays counted, on its day.
	at.Store(noon.Add(-30 * 24 * time.Hour).Unix())
	r.Must(c.Sweep(t.Context()))
	at.Store(noon.Unix())
	r.Must(c.Sweep(t.Context()))
	if sum := total(t, c.Store()); !r.exhausted(1) || sum.Spend != 60_000 {
		t.Errorf("after the clock went back and forth: exhausted %v, spend %d", r.exhausted(1), sum.Spend)
	}
}

// TestMidnight: a mark is removed when the day ends in the advertiser's time zone, including on a day of 25
// hours.
func TestMidnight(t *testing.T) {
	r := newRig(t, 1)
	tx, err := r.DB.Begin(t.Context())
	r.Must(err)
	r.Must(tx.UpdateAdvertiser(t.Context(), 1, backend.AdvertiserPatch{TimeZone: backend.To("Europe/Prague")}))
	r.Must(tx.Commit(t.Context()))
	prague, err := time.LoadLocation("Europe/Prague")
	r.Must(err)
	begin := time.Date(2026, 10, 25, 0, 0, 0, 0, prague) // clocks go back by an hour at three
	end := begin.Add(25 * time.Hour)
	var at atomic.Int64
	at.Store(begin.Add(time.Minute).Unix())
	c := r.runAt("collector-0", func() time.Time { return time.Unix(at.Load(), 0) })
	r.click(c, 1, 60_000, time.Unix(at.Load(), 0))
	for _, step := range []struct {
		at   time.Time
		want bool
	}{{begin.Add(2 * time.Minute), true}, {end.Add(-time.Second), true}, {end, false}} {
		at.Store(step.at.Unix())
		r.Must(c.Sweep(t.Context()))
		if got := r.exhausted(1); got != step.want {
			t.Errorf("at %v: exhausted %v", step.at.In(prague), got)
		}
	}
}

// TestOfARemovedCampaign: events of a removed campaign count, and nothing is marked.
func TestOfARemovedCampaign(t *testing.T) {
	r := newRig(t, 1)
	c := r.run("collector-0")
	r.remove("C0")
	r.click(c, 1, 60_000, time.Now())
	r.Must(c.Sweep(t.Context()))
	if marks, err := c.Store().Marks(t.Context()); err != nil || total(t, c.Store()).Clicks != 1 {
		t.Errorf("%v %v %+v", marks, err, total(t, c.Store()))
	}
	if why := strings.Join(c.Ready(), ", "); why != "" {
		t.Error(why)
	}
}
