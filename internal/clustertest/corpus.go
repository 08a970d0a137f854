package clustertest

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"strings"
	"testing"

	"adshard/backend"
	"adshard/internal/oracle"
	"adshard/search"
)

// Answer has the fields that are read from an HTTP answer.
type Answer struct {
	Matched, Candidates uint64
	Ads                 []Ad
	Places              string `json:"locations_version"`
	Coverage            struct {
		Complete     bool
		Missing      []string
		Reasons      map[string]string
		PricesExact  bool   `json:"prices_exact"`
		AppliedClock uint64 `json:"applied_clock"`
	}
}

// Ad is one placed ad in an answer.
type Ad struct {
	Position int
	Keyword  uint64 `json:"keyword_id"`
	Group    uint64 `json:"group_id"`
	Ad       uint64 `json:"ad_id"`
	Price    uint64 `json:"price_micros"`
	FinalURL string `json:"final_url"`
	Names
}

// Names identify an ad in golden answers, which have no ids.
type Names struct {
	Advertiser, Campaign string
	GroupName            string `json:"group"`
	KeywordText          string `json:"keyword"`
	MatchType            string `json:"match_type"`
	Variant              string
}

// Question is a query with its only right answer.
type Question struct {
	text, device        string
	matched, candidates uint64
	ads                 []Ad
	params              url.Values // of a golden request, whose ads have names in place of ids; nil for a question from Solve
}

// String returns the query's text and its device.
func (q *Question) String() string { return fmt.Sprintf("%q %s", q.text, q.device) }

// Params returns the parameters of /v1/search.
func (q *Question) Params(exact bool) url.Values {
	if q.params != nil {
		v := maps.Clone(q.params)
		if v.Del("counts"); exact {
			v.Set("counts", "exact")
		}
		return v
	}
	v := url.Values{"q": {q.text}, "device": {q.device}, "variants": {"folded"}, "slots": {"4"}}
	if exact {
		v.Set("counts", "exact")
	}
	return v
}

// Difference returns what is wrong with a complete answer, or "" if it is right.
func (q *Question) Difference(a *Answer, exact bool) string {
	if exact && (a.Matched != q.matched || a.Candidates != q.candidates) {
		return fmt.Sprintf("matched %d and candidates %d, want %d and %d", a.Matched, a.Candidates, q.matched, q.candidates)
	}
	if len(a.Ads) != len(q.ads) {
		return fmt.Sprintf("%d ads, want %d", len(a.Ads), len(q.ads))
	}
	for i, got := range a.Ads {
		if q.params == nil {
			got.FinalURL, got.Names = "", Names{}
		} else {
			got.Keyword, got.Group, got.Ad = 0, 0, 0
		}
		if got != q.ads[i] {
			return fmt.Sprintf("place %d is %+v, want %+v", i+1, got, q.ads[i])
		}
	}
	return ""
}

// requestID determines which of several ads is shown (serving.md §5).
const requestID = "audit"

// requestParam is the parameter with which AskAt sends another request id. It is sent as a header.
const requestParam = "request_id"

// most is the most questions, since the oracle compares every keyword for each.
const most = 150

// Solve has the oracle answer some of the queries for the present database.
func Solve(t *testing.T, store backend.Store, texts []string) (questions []Question) {
	t.Helper()
	slow := slowly(t, store)
	step := max(1, len(texts)/most)
	for i := 0; i < len(texts); i += step {
		for device, name := range map[search.Device]string{search.Desktop: "desktop", search.Mobile: "mobile"} {
			want, err := slow.Search(oracle.Request{Text: texts[i], Profile: search.DefaultProfile(), Device: device,
				Slots: 4, Variants: search.Folded, Reserve: 10_000, RequestID: requestID})
			if err != nil {
				continue // HTTP refuses it, too
			}
			q := Question{text: texts[i], device: name, matched: want.Matched, candidates: want.Candidates}
			for _, p := range want.Ads {
				q.ads = append(q.ads, Ad{Position: p.Position, Keyword: p.Keyword.ID, Group: p.Keyword.GroupID, Ad: p.Ad.ID, Price: p.Price})
			}
			questions = append(questions, q)
		}
	}
	t.Logf("%d questions", len(questions))
	return questions
}

func slowly(t *testing.T, store backend.Store) *oracle.Oracle {
	t.Helper()
	snapshot, err := store.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer snapshot.Close()
	advertisers, err := snapshot.Advertisers(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	campaigns, err := snapshot.Campaigns(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var items []*backend.Item
	for it, err := range snapshot.All(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, it)
	}
	slow, err := oracle.New(advertisers, campaigns, items, nil)
	if err != nil {
		t.Fatal(err)
	}
	return slow
}

// Lines returns the lines that are not empty, without white space around them.
func Lines(text []byte) (list []string) {
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" {
			list = append(list, line)
		}
	}
	return list
}
