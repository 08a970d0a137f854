package searchapi

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"adshard/fault"
	"adshard/search"
)

// changedList is a searcher whose shards have only one version of a list.
type changedList struct {
	fake
	has   uint64
	asked []uint64 // versions
}

func (l *changedList) Search(_ context.Context, r *search.Request) (*search.Answer, error) {
	lists := r.Context.Lists
	if r.Page != nil {
		lists = r.Page.Filters[0].Lists
	}
	version := lists[0].Version
	l.asked = append(l.asked, version)
	if version == l.has {
		return whole(), nil
	}
	a := whole()
	a.Missing, a.Width = []search.Missing{{Shard: "slave-0", Reason: search.Behind}}, search.Width{}
	return a, nil
}

// TestListReplacedMeanwhile: if shards have the next version of a list, they are asked again with that version when the master has it. If
// it does not arrive, or the list was removed, the answer is incomplete.
func TestListReplacedMeanwhile(t *testing.T) {
	for what, c := range map[string]struct {
		page     bool   // a placement names it
		has      uint64 // of shards
		after    time.Duration
		removed  bool
		complete bool
		asked    int
	}{
		"the same":               {has: 1, complete: true, asked: 1},
		"the next one, at once":  {has: 2, complete: true, asked: 2},
		"the next one, soon":     {has: 2, after: 200 * time.Millisecond, complete: true, asked: 2},
		"none that comes":        {has: 2, after: time.Hour, asked: 1},
		"of a placement":         {page: true, has: 2, complete: true, asked: 2},
		"removed":                {has: 2, removed: true, asked: 1},
		"another one, each time": {has: 99, asked: 1 + listTries},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				shards, began, first := &changedList{has: c.has}, time.Now(), true
				cfg := configured(&shards.fake)
				cfg.Searcher = shards
				cfg.List = func(string) (uint64, error) {
					switch {
					case first:
						first = false
						return 1, nil
					case c.removed:
						return 0, fault.Newf(fault.Invalid, "test", "no list")
					case time.Since(began) < c.after:
						return 1, nil
					}
					return uint64(1 + len(shards.asked)), nil
				}
				body := ""
				if c.page {
					_, body = ask(t, New(cfg), post(`{"q":"a","timeout_ms":2000,"placements":[{"id":"a","block":["kids"]}]}`))
				} else {
					_, body = get(t, New(cfg), "http://example.com/v1/search?q=a&block=kids&timeout_ms=2000")
				}
				if strings.Contains(body, `"complete":true`) != c.complete || len(shards.asked) != c.asked {
					t.Errorf("asked for the versions %d: %s", shards.asked, body)
				}
			})
		})
	}
	f := &fake{err: fault.Newf(fault.Behind, "test", "min_clock is not reached")}
	if res, _ := get(t, New(configured(f)), "http://example.com/v1/search?q=a"); res.StatusCode == http.StatusOK {
		t.Error("a request without lists is answered")
	}
}
