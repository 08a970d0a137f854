package balancer

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"adshard/backend"
	"adshard/barrels/barreltest"
	"adshard/internal/oracle"
	"adshard/search"
)

// rising is a keyword whose bid rises with each change.
type rising struct {
	word  string
	group uint64
	mu    sync.Mutex
	list  []raised // under mu, by rising clock
}

type raised struct{ clock, bid uint64 }

// promised returns the lowest bid that an answer with this clock may show.
func (r *rising) promised(clock uint64) (bid uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.list {
		if c.clock <= clock {
			bid = c.bid
		}
	}
	return bid
}

// clockOf returns the clock of the change to a bid, or 0 if it is not known yet.
func (r *rising) clockOf(bid uint64) uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.list {
		if c.bid == bid {
			return c.clock
		}
	}
	return 0
}

// rise writes the keyword. If its group is new, the group also gets `others` other keywords.
func (w *world) rise(r *rising, others int, bid uint64) {
	w.T.Helper()
	ctx := w.T.Context()
	tx, err := w.DB.Begin(ctx)
	w.Must(err)
	defer tx.Rollback()
	if r.group == 0 {
		a, err := tx.Advertiser(ctx, r.word)
		w.Must(err)
		c, err := tx.Campaign(ctx, a, "campaign", backend.CampaignPatch{})
		w.Must(err)
		r.group, err = tx.Group(ctx, c, "group", backend.GroupPatch{})
		w.Must(err)
		w.Must(tx.Ad(ctx, r.group, backend.AdPatch{Headlines: []string{"h"}, Descriptions: []string{"d"}, FinalURL: "https://a.example/"}))
		for i := range others {
			text := fmt.Sprintf("filler%d of %s", i, r.word)
			w.Must(tx.Keyword(ctx, r.group, backend.KeywordPatch{Text: text, Words: text, Type: search.Exact}))
		}
	}
	w.Must(tx.Keyword(ctx, r.group, backend.KeywordPatch{Text: r.word, Words: r.word, Type: search.Exact, Bid: backend.To(bid)}))
	w.Must(tx.Commit(ctx))
	newest, err := w.DB.Newest(ctx)
	w.Must(err)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, raised{newest.Clock, bid})
}

// see asks for the keyword, and returns the clock of the answer and the bid that it shows, or 0.
func (w *world) see(r *rising) (clock, bid uint64) {
	w.T.Helper()
	ctx, cancel := context.WithTimeout(w.T.Context(), 10*time.Second)
	defer cancel()
	q := barreltest.Request(w.T, oracle.Request{Text: r.word, Profile: search.DefaultProfile(), Slots: 4, Reserve: 10_000}, nil)
	a, err := w.master.Search(ctx, q)
	w.Must(err)
	if len(a.Hits) == 0 {
		return a.AppliedClock, 0
	}
	return a.AppliedClock, a.Hits[0].Score / a.Hits[0].Quality
}

// TestNoAnswersClockLies: while a large group changes all the time, changes of a small one appear
// in answers before the answers' clock reaches them. No answer lacks a change up to its clock, and
// in the end the clock is the newest one.
func TestNoAnswersClockLies(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, nil)
	hot, calm := &rising{word: "hotword"}, &rising{word: "calmword"}
	w.rise(hot, 3000, 1_000_000)
	w.rise(calm, 0, 1_000_000)
	w.eventually("both are shown", func() bool {
		_, h := w.see(hot)
		_, c := w.see(calm)
		return h > 0 && c > 0
	})
	ahead := 0
	for i := uint64(1); ahead < 20 && i < 3000; i++ {
		w.rise(hot, 0, 1_000_000+i)
		if i%10 == 0 {
			w.rise(calm, 0, 1_000_000+i)
		}
		for _, r := range []*rising{hot, calm} {
			clock, bid := w.see(r)
			if least := r.promised(clock); bid < least {
				t.Fatalf("%s is shown with bid %d by an answer that tells clock %d, where it was %d", r.word, bid, clock, least)
			}
			if r == calm && r.clockOf(bid) > clock {
				ahead++
			}
		}
	}
	if ahead < 20 {
		t.Errorf("%d answers had a change of the small group that is newer than their clock: nothing was deferred", ahead)
	}
	newest, err := w.DB.Newest(t.Context())
	w.Must(err)
	w.eventually("the clock is the newest", func() bool {
		clock, bid := w.see(hot)
		return clock >= newest.Clock && bid == hot.list[len(hot.list)-1].bid
	})
}
