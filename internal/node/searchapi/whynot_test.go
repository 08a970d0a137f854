package searchapi

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"testing"

	"adshard/internal/node/httpapi/api"
	"adshard/search"
)

// named is an explainer that also finds keywords by name.
type named struct {
	*fake
	all   []search.Explained // by falling score
	asked []search.Wanted
}

func (n *named) Explain(_ context.Context, r *search.Request, limit int) (*search.Explanation, error) {
	n.asked = append(n.asked, r.Wanted)
	list := slices.DeleteFunc(slices.Clone(n.all), func(m search.Explained) bool {
		return r.Wanted.Any() && !r.Wanted.Has(&m) || !r.Wanted.Any() && m.Level == search.NoLevel
	})
	return &search.Explanation{Total: uint64(len(list)), Matches: list[:min(limit, len(list))], Width: search.WholeRing()}, nil
}

// newNamed has two winners, keywords that lost or are superseded, by winners and by one that lost, and some that do not match.
func newNamed() (*named, http.Handler) {
	a, b, c := hit(1, 1, 3_000_000, 360_000), hit(2, 2, 2_000_000, 360_000), hit(3, 3, 1_000_000, 360_000)
	n := &named{fake: &fake{answer: whole(a, b, c)}}
	for _, h := range []search.Hit{a, b, c, hit(4, 1, 900_000, 360_000), hit(5, 9, 800_000, 360_000), hit(6, 9, 700_000, 360_000)} {
		n.all = append(n.all, match(h, search.Eligible))
	}
	for i, why := range []search.Mismatch{search.WordsMissing, search.WordsDiffer, search.OtherWords, search.Arrangement} {
		h := hit(uint64(10+i), 9, 0, 0)
		h.Level, h.Type = search.NoLevel, search.Phrase
		m := match(h, search.Unmatched)
		m.Mismatch, m.Words = why, []search.Agreement{{Keyword: "usb", Level: search.NoLevel}}
		if why != search.Arrangement {
			m.MismatchWords = []string{"usb"}
		}
		n.all = append(n.all, m)
	}
	paused := n.all[len(n.all)-1]
	paused.Keyword, paused.Verdict = 20, search.KeywordPaused
	n.all = append(n.all, paused)
	cfg := configured(n.fake)
	cfg.Explainer = n
	return n, New(cfg)
}

// whyNot requests why a keyword is not shown.
func whyNot(t *testing.T, h http.Handler, what string) *api.ExplainAnswer {
	t.Helper()
	res, body := get(t, h, "/v1/explain?q=usb+kabel&slots=2&why_not="+what)
	if res.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", res.StatusCode, body)
	}
	got := new(api.ExplainAnswer)
	strictly(t, body, got)
	return got
}

// TestWhyNotIsTheExplanation: for a keyword that matches, the answer equals what the explanation of all keywords says about
// it.
func TestWhyNotIsTheExplanation(t *testing.T) {
	_, h := newNamed()
	all := whyNot(t, h, "")
	if len(all.Matches) != 6 {
		t.Fatalf("%d match", len(all.Matches))
	}
	for _, want := range all.Matches {
		got := whyNot(t, h, fmt.Sprint(want.KeywordID))
		if got.Total != 1 || len(got.Matches) != 1 || !reflect.DeepEqual(got.Matches[0], want) {
			t.Errorf("keyword %d alone: %+v\nwith all: %+v", want.KeywordID, got.Matches, want)
		}
	}
	if k := all.Matches[5]; k.Verdict != api.VerdictSuperseded || k.LostTo != 5 || k.BidToWinMicros != 4_000_002 {
		t.Errorf("superseded by one that lost: %+v", k)
	}
	if k := all.Matches[3]; k.Verdict != api.VerdictSuperseded || k.LostTo != 1 || k.BidToWinMicros != 6_000_002 {
		t.Errorf("superseded by a winner: %+v", k)
	}
	if got := whyNot(t, h, "advertiser:9"); got.Total != 7 || len(got.Matches) != 7 || !reflect.DeepEqual(got.Matches[:2], all.Matches[4:]) {
		t.Errorf("an advertiser: %+v", got)
	}
}

// TestWhyNotUnmatched tells each reason.
func TestWhyNotUnmatched(t *testing.T) {
	n, h := newNamed()
	for id, want := range map[int][2]string{
		10: {"words_missing", `it does not match: no word of the query agrees with "usb"`},
		11: {"words_differ", `it does not match: "usb" agrees only as a variant that phrase keywords, or this query, do not take`},
		12: {"other_words", `it does not match: the query also has "usb", and phrase keywords take no other words`},
		13: {"arrangement", "it does not match: all its words are in the query, but not in the order, number or adjacency that phrase keywords take"},
		20: {"arrangement", "the keyword is paused; and it does not match: all its words are in the query, but not in the order, number or adjacency that phrase keywords take"},
	} {
		k := whyNot(t, h, fmt.Sprint(id)).Matches[0]
		if k.Mismatch == nil || string(k.Mismatch.Reason) != want[0] || k.Reason != want[1] || k.Variant != "" || (k.Verdict == api.VerdictUnmatched) == (id == 20) {
			t.Errorf("%d: %+v", id, k)
		}
	}
	if got := whyNot(t, h, "99"); got.Total != 0 || len(got.Matches) != 0 || !got.Coverage.Complete {
		t.Errorf("nobody: %+v", got)
	}
	res, body := get(t, h, "/v1/explain?q=a&why_not=0")
	refused(t, "id 0", res, body, http.StatusBadRequest, api.ErrorCodeInvalid, "why_not")
	if n.fake.asked.Wanted.Any() {
		t.Error("the search was asked for keywords by name")
	}
}
