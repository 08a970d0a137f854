package collector_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"adshard/backend"
	"adshard/events"
	"adshard/events/token"
	"adshard/ingest"
	"adshard/internal/node/collector"
	"adshard/quality"
)

// learned turns learning on.
func learned(c *collector.Config) { c.Quality = collector.QualityLearned }

// withKeywords adds a group with three keywords to the first campaign.
func (r *rig) withKeywords() {
	r.TB.Helper()
	lines := ""
	for _, text := range []string{"liked", "disliked", "unseen"} {
		lines += `{"type":"keyword","advertiser":"A","campaign":"C0","group":"G","text":"` + text + `","match_type":"exact","quality_score":4}` + "\n"
	}
	sum, err := ingest.Run(r.TB.Context(), r.DB, []string{"-"}, ingest.Options{Stdin: strings.NewReader(lines)})
	if err != nil || sum.Rejected > 0 {
		r.TB.Fatal(sum.First, err)
	}
}

// keywords returns the keywords of withKeywords.
func (r *rig) keywords() (list []backend.Keyword) {
	r.TB.Helper()
	s, err := r.DB.Snapshot(r.TB.Context())
	r.Must(err)
	defer s.Close()
	for it, err := range s.All(r.TB.Context()) {
		r.Must(err)
		list = append(list, it.Keywords...)
	}
	return list
}

// show sends impressions of a keyword, and clicks on some of them.
func (r *rig) show(url string, keyword uint64, impressions, clicks int, at time.Time) {
	r.TB.Helper()
	ring := r.ring()
	var list []string
	for n := range impressions {
		r.nonce++
		b, _ := ring.Append(nil, &token.Token{Served: at, Nonce: r.nonce, Position: 1, Advertiser: 1, Campaign: 1, Keyword: keyword, Ad: 1, Price: 1})
		if list = append(list, event("impression", string(b))); n < clicks {
			list = append(list, event("click", string(b)))
		}
	}
	if status, a, text := r.post(url, batch(list...)); status != 200 || a.Counted != impressions+clicks {
		r.TB.Fatalf("%d %s", status, text)
	}
}

// TestLearning: what is shown and clicked, at any collector, becomes the quality, whether or not its events have
// been folded. A given quality stays, and a keyword that was not shown gets the overall rating. No collector
// learns again before it is time, and a new day's counts change only the qualities that are inaccurate.
func TestLearning(t *testing.T) {
	r := newRig(t, 1)
	r.withKeywords()
	var at atomic.Int64
	at.Store(time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC).Unix())
	now := func() time.Time { return time.Unix(at.Load(), 0) }
	c, second := r.runAt("collector-0", now, learned), r.runAt("collector-1", now, learned)
	r.Must(c.Learn(t.Context())) // there is nothing to learn from yet
	r.show(c.URL(), 1, 1000, 200, now())
	at.Add(3 * 60 * 60)
	r.Must(second.Forget(t.Context()))
	r.show(second.URL(), 2, 1000, 4, now())
	before, err := r.DB.Newest(t.Context())
	r.Must(err)
	r.Must(second.Learn(t.Context()))
	r.Must(c.Learn(t.Context()))
	list := r.keywords()
	if list[0].Served() != 10 || list[0].Learned.Impressions() != 1000 || list[0].Learned.Clicks() != 200 {
		t.Errorf("liked: quality %d, %d impressions, %d clicks", list[0].Served(), list[0].Learned.Impressions(), list[0].Learned.Clicks())
	}
	if list[1].Served() != 1 || list[2].Served() < 5 {
		t.Errorf("disliked: quality %d, unseen: %d", list[1].Served(), list[2].Served())
	}
	for _, k := range list {
		if k.Quality != 4 {
			t.Errorf("%s: the given quality is %d", k.Text, k.Quality)
		}
	}
	after, err := r.DB.Newest(t.Context())
	r.Must(err)
	if after.Clock != before.Clock+1 {
		t.Errorf("one group was changed, and the clock went from %d to %d", before.Clock, after.Clock)
	}
	r.show(c.URL(), 2, 100, 0, now())
	at.Add(3 * 60 * 60)
	r.Must(c.Forget(t.Context()))
	r.Must(c.Learn(t.Context()))
	if now, err := r.DB.Newest(t.Context()); err != nil || now.Clock != after.Clock {
		t.Errorf("nothing is off, and the clock went from %d to %d, %v", after.Clock, now.Clock, err)
	}
	note, err := r.DB.LoadControl(t.Context(), "balancer"+collector.LearningKey)
	if err != nil || !strings.Contains(string(note), `"scale":0.0`) {
		t.Errorf("%s, %v", note, err)
	}
}

// TestLearningApart: two collectors whose clocks are hours apart each learn when it is time by their own clock,
// and not each time the other one did.
func TestLearningApart(t *testing.T) {
	r := newRig(t, 1)
	r.withKeywords()
	var at atomic.Int64
	at.Store(time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC).Unix())
	now := func() time.Time { return time.Unix(at.Load(), 0) }
	ahead := func() time.Time { return now().Add(2 * time.Hour) }
	c, second := r.runAt("collector-0", now, learned), r.runAt("collector-1", ahead, learned)
	rounds, before := 0, ""
	for range 2 * 60 {
		for _, x := range []*collector.Collector{c, second} {
			r.Must(x.Learn(t.Context()))
			note, err := r.DB.LoadControl(t.Context(), "balancer"+collector.LearningKey)
			r.Must(err)
			if string(note) != before {
				rounds, before = rounds+1, string(note)
			}
		}
		at.Add(60)
	}
	if rounds < 2 || rounds > 6 { // the checks at their start may continue for a while
		t.Errorf("%d rounds in two hours", rounds)
	}
}

// TestLearningWaits: between two rounds counts change nothing, whichever collector checks.
func TestLearningWaits(t *testing.T) {
	r := newRig(t, 1)
	r.withKeywords()
	var at atomic.Int64
	at.Store(time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC).Unix())
	now := func() time.Time { return time.Unix(at.Load(), 0) }
	c := r.runAt("collector-0", now, learned, func(c *collector.Config) { c.LearnEvery = 24 * time.Hour })
	r.Must(c.Learn(t.Context())) // or the check at its start did this already
	r.show(c.URL(), 1, 1000, 200, now())
	at.Add(3 * 60 * 60)
	r.Must(c.Forget(t.Context()))
	second := r.runAt("collector-1", now, learned, func(c *collector.Config) { c.LearnEvery = 24 * time.Hour })
	r.Must(c.Learn(t.Context()))
	for range 2 { // the check at its start may be in progress
		r.Must(second.Learn(t.Context()))
	}
	if k := r.keywords()[0]; k.Learned != 0 {
		t.Errorf("learned too soon: %d", k.Learned.Quality())
	}
	at.Add(21 * 60 * 60)
	r.Must(c.Learn(t.Context()))
	if k := r.keywords()[0]; k.Learned == 0 {
		t.Error("nothing is learned after a day")
	}
}

// TestGivenLearnsNothing: without learned qualities nothing learns. What was counted meanwhile is used once
// learning is turned on.
func TestGivenLearnsNothing(t *testing.T) {
	r := newRig(t, 1)
	r.withKeywords()
	var at atomic.Int64
	at.Store(time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC).Unix())
	now := func() time.Time { return time.Unix(at.Load(), 0) }
	c := r.runAt("collector-0", now)
	r.show(c.URL(), 1, 1000, 200, now())
	at.Add(3 * 60 * 60)
	r.Must(c.Forget(t.Context()))
	if c.Learns() {
		t.Error("it learns")
	}
	if note, err := r.DB.LoadControl(t.Context(), "balancer"+collector.LearningKey); err != nil || note != nil {
		t.Errorf("%s, %v", note, err)
	}
	r.Must(r.runAt("collector-1", now, learned).Learn(t.Context()))
	// The check at its start may have done this already.
	eventually(t, "nothing is learned of what was counted before", func() bool { return r.keywords()[0].Learned != 0 })
}

// TestLearningForgets: events of an erased advertiser, folded or not, are no longer used for learning. Neither
// are events so old that they have hardly any weight.
func TestLearningForgets(t *testing.T) {
	r := newRig(t, 1)
	r.withKeywords()
	var at atomic.Int64
	at.Store(time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC).Unix())
	now := func() time.Time { return time.Unix(at.Load(), 0) }
	c := r.runAt("collector-0", now, learned)
	places := func(days int, want int) {
		t.Helper()
		if got, err := c.Learnable(t.Context(), now().AddDate(0, 0, days)); err != nil || got != want {
			t.Errorf("after %d days %d counts, %v, want %d", days, got, err, want)
		}
	}
	r.show(c.URL(), 1, 10, 5, now())
	at.Add(3 * 60 * 60)
	r.Must(c.Forget(t.Context()))
	r.show(c.URL(), 2, 10, 5, now())
	places(0, 2)
	places(210, 2)
	places(211, 0)
	_, _, err := events.Erase(t.Context(), c.Store(), 2, nil, now(), nil)
	r.Must(err)
	places(0, 2)
	_, _, err = events.Erase(t.Context(), c.Store(), 1, nil, now(), nil)
	r.Must(err)
	places(0, 0)
}

// TestLearningRefuses: nothing is learned from clicks without impressions. The keyword gets the rating of its
// group.
func TestLearningRefuses(t *testing.T) {
	r := newRig(t, 1)
	r.withKeywords()
	var at atomic.Int64
	at.Store(time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC).Unix())
	c := r.runAt("collector-0", func() time.Time { return time.Unix(at.Load(), 0) }, learned)
	r.Must(c.Learn(t.Context())) // or the check at its start did this already
	served := time.Unix(at.Load(), 0)
	r.show(c.URL(), 1, 1000, 200, served)
	r.show(c.URL(), 2, 1000, 4, served)
	r.nonce++
	b, _ := r.ring().Append(nil, &token.Token{Served: served, Nonce: r.nonce, Position: 1, Advertiser: 1, Campaign: 1, Keyword: 3, Ad: 1, Price: 1})
	if status, a, text := r.post(c.URL(), batch(event("click", string(b)))); status != 200 || a.Counted != 1 {
		t.Fatalf("%d %s", status, text)
	}
	at.Add(2 * 60 * 60)
	r.Must(c.Learn(t.Context()))
	if k := r.keywords()[2]; k.Learned == 0 || quality.Level(k.Learned.Level()) != quality.LevelGroup {
		t.Errorf("quality %d, learned from %d impressions and %d clicks of level %d", k.Served(), k.Learned.Impressions(), k.Learned.Clicks(), k.Learned.Level())
	}
}
