package searchapi

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"adshard/backend"
	"adshard/fault"
	"adshard/internal/node/httpapi/api"
	"adshard/search"
)

func errorOf(kind int) error { return fault.Newf(fault.Kind(kind), "test: op", "what happened") }

func match(h search.Hit, v search.Verdict) search.Explained {
	return search.Explained{
		AdvertiserName: "Čapek & Söhne", CampaignName: "Káble", GroupName: "USB", KeywordText: "usb kabel",
		Hit: h, Verdict: v, Bid: 2_000_000, Modifier: 500, Effective: 1_000_000, Shard: "slave-1", Slice: 4,
		Words: []search.Agreement{{Keyword: "usb", Query: "usb"}, {Keyword: "kabel", Query: "kábel", Level: search.Folded}},
	}
}

// TestExplainTellsEveryFate explains one keyword with each verdict.
func TestExplainTellsEveryFate(t *testing.T) {
	a, b, c := hit(1, 1, 3_000_000, 360_000), hit(2, 2, 2_000_000, 360_000), hit(3, 3, 1_000_000, 360_000)
	second := hit(4, 1, 900_000, 360_000)  // of the winner's advertiser
	further := hit(5, 9, 800_000, 360_000) // beyond the hits
	behind := hit(6, 9, 700_000, 360_000)
	blocked := match(hit(7, 7, 500_000, 360_000), search.BlockedByNegative)
	blocked.Negative, blocked.NegativeOwner, blocked.NegativeType = "free", "campaign", search.Phrase
	off := match(hit(8, 8, 400_000, 360_000), search.DeviceOff)
	off.Modifier, off.Effective = 0, 0
	low := match(hit(9, 8, 1, 360_000), search.BelowReserve)
	low.Bid, low.Effective, low.BidFromGroup = 10_000, 5_000, true
	paused := match(hit(10, 8, 0, 0), search.GroupPaused)
	paused.Bid, paused.Modifier, paused.Effective = 0, 0, 0
	noBid := match(hit(11, 8, 0, 0), search.NoBid)
	f := &fake{
		answer: whole(a, b, c),
		explain: &search.Explanation{Total: 11, Width: search.WholeRing(), AppliedClock: 123000, Matches: []search.Explained{
			match(a, 0), match(b, 0), match(c, 0), match(second, 0), match(further, 0), match(behind, 0),
			blocked, off, low, paused, noBid,
		}},
	}
	h := New(configured(f))
	res, body := get(t, h, "/v1/explain?q=usb+kabel&slots=2&device=mobile")
	if res.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", res.StatusCode, body)
	}
	golden(t, "explain.json", body)
	var got api.ExplainAnswer
	strictly(t, body, &got)
	want := []struct {
		verdict api.Verdict
		lostTo  uint64
	}{
		{api.VerdictWon, 0},
		{api.VerdictWon, 0},
		{api.VerdictLost, 2},
		{api.VerdictSuperseded, 1},
		{api.VerdictLost, 2},
		{api.VerdictSuperseded, 5},
		{api.VerdictBlockedByNegative, 0},
		{api.VerdictDeviceOff, 0},
		{api.VerdictBelowReserve, 0},
		{api.VerdictGroupPaused, 0},
		{api.VerdictNoBid, 0},
	}
	for i, w := range want {
		if k := got.Matches[i]; k.Verdict != w.verdict || k.LostTo != w.lostTo {
			t.Errorf("keyword %d: %s, lost to %d; want %s, %d", k.KeywordID, k.Verdict, k.LostTo, w.verdict, w.lostTo)
		}
	}
	if k := got.Matches[0]; k.Position != 1 || *k.PriceMicros != 2_000_000 || k.PriceSetBy != 2 {
		t.Errorf("the winner: %+v", k)
	}
}

// TestExplainHolds: a keyword that is paused by more than its own status has all its reasons.
func TestExplainHolds(t *testing.T) {
	f := &fake{answer: whole(), explain: &search.Explanation{Total: 3, Width: search.WholeRing()}}
	for i, held := range []backend.Hold{0, backend.HeldBy(77), backend.Refused | backend.Ended} {
		m := match(hit(uint64(i+1), 1, 10_000, 1), search.GroupPaused)
		m.Held = held.Brief()
		f.explain.Matches = append(f.explain.Matches, m)
	}
	_, body := get(t, New(configured(f)), "/v1/explain?q=a")
	var got api.ExplainAnswer
	strictly(t, body, &got)
	for i, want := range []struct {
		by   string
		says []string
	}{
		{"[]", []string{"its ad group is paused"}},
		{"[unfinished_import]", []string{"its ad group is paused; it is held, since the import that made it has not come"}},
		{"[refused_row end_date]", []string{"its own row was rejected", "its end date is over"}},
	} {
		k := &got.Matches[i]
		if fmt.Sprint(k.PausedBy) != want.by {
			t.Errorf("keyword %d is paused by %v, want %s", i+1, k.PausedBy, want.by)
		}
		for _, says := range want.says {
			if !strings.Contains(k.Reason, says) || i == 0 && k.Reason != says {
				t.Errorf("keyword %d: %s", i+1, k.Reason)
			}
		}
	}
}

func TestExplainPages(t *testing.T) {
	f := &fake{answer: whole(), explain: &search.Explanation{Total: 5, Width: search.WholeRing()}}
	for i := range 5 {
		f.explain.Matches = append(f.explain.Matches, match(hit(uint64(i+1), 1, 10_000, 1), search.NoAd))
	}
	h := New(configured(f))
	for query, want := range map[string][2]int{"limit=2&offset=1": {2, 2}, "limit=2&offset=4": {5, 1}, "offset=9": {0, 0}} {
		_, body := get(t, h, "/v1/explain?q=a&"+query)
		var got api.ExplainAnswer
		strictly(t, body, &got)
		if len(got.Matches) != want[1] || want[1] > 0 && got.Matches[0].KeywordID != uint64(want[0]) || got.Total != 5 {
			t.Errorf("%s: %s", query, body)
		}
	}
	for _, query := range []string{"limit=0", "limit=1001", "offset=-1", "strict=true", "counts=exact"} {
		if res, body := get(t, h, "/v1/explain?q=a&"+query); res.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: %d %s", query, res.StatusCode, body)
		}
	}
}

func TestExplainWithoutExplainerOrIncomplete(t *testing.T) {
	f := &fake{answer: whole(), explain: &search.Explanation{Missing: []search.Missing{{Shard: "slave-1", Reason: search.Behind}}}}
	_, body := get(t, New(configured(f)), "/v1/explain?q=a")
	var got api.ExplainAnswer
	strictly(t, body, &got)
	if got.Coverage.Complete || len(got.Coverage.Missing) != 1 || got.Coverage.Reasons["slave-1"] != api.MissingReasonBehind {
		t.Error(body)
	}
	c := configured(f)
	c.Explainer = nil
	res, body := get(t, New(c), "/v1/explain?q=a")
	refused(t, "no explainer", res, body, http.StatusForbidden, api.ErrorCodeForbidden, "")
}

// TestExplainTimes: an explanation says how long each slave took and which slaves did not answer. The
// search itself is not timed for that.
func TestExplainTimes(t *testing.T) {
	began := time.Now()
	f := &fake{answer: whole(hit(1, 1, 400_000, 360_000)), explain: &search.Explanation{Width: search.WholeRing()}, parts: []search.Part{
		{Name: "shard-0", Replica: "slave-0", Began: began.Add(time.Hour), Took: 3 * time.Millisecond},
		{Name: "shard-1", Replica: "slave-1", Took: time.Millisecond, Err: fault.Newf(fault.Overloaded, "test", "too many")},
	}}
	h := New(configured(f))
	_, body := get(t, h, "/v1/explain?q=usb")
	var got api.ExplainAnswer
	strictly(t, body, &got)
	want := []api.TimedCall{{Shard: "shard-0", Replica: "slave-0", TookUs: 3000}, {Shard: "shard-1", Replica: "slave-1", TookUs: 1000, Error: "overloaded"}}
	calls := got.Timing.Calls
	if len(calls) != 2 || calls[0].BeganUs < 3_500_000_000 {
		t.Fatalf("%+v", calls)
	}
	if calls[0].BeganUs = 0; !slices.Equal(calls, want) {
		t.Errorf("%+v, want %+v", calls, want)
	}
	if get(t, h, "/v1/search?q=usb"); f.asked.Timing != nil {
		t.Error("a search is timed")
	}
}
