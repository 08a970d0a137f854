package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"adshard/internal/goldentest"
	"adshard/internal/oracle"
	"adshard/search"
	"adshard/targeting"
)

// placementsCase is a case of placements/cases.jsonl.
type placementsCase struct {
	Name, Kind, Comment string
	Files               []caseFile
	Requests            []struct {
		Request json.RawMessage
		Want    wantPage
	}
}

type wantPage struct {
	Error               int
	Field               string
	Matched, Candidates uint64
	Placements          []wantPlacement
	Plain               []map[string]any
}

type wantPlacement struct {
	ID                  string
	Matched, Candidates uint64
	Ads                 []map[string]any
	Why                 map[string]uint64
	Error               struct{ Code, Field string }
}

func placementsCases(t *testing.T) (list []placementsCase) {
	t.Helper()
	exemplary := 0
	d := json.NewDecoder(bytes.NewReader(goldentest.Read(t, "placements/cases.jsonl")))
	for d.More() {
		var c placementsCase
		if err := d.Decode(&c); err != nil {
			t.Fatal(err)
		}
		if c.Kind == "exemplary" {
			exemplary++
		}
		list = append(list, c)
	}
	if len(list) < 30 || exemplary < 13 {
		t.Fatalf("%d cases, %d exemplary", len(list), exemplary)
	}
	return list
}

// pageRequest is the part of a request that the oracle is asked.
type pageRequest struct {
	Q             string
	Slots         int
	PerAdvertiser int    `json:"per_advertiser"`
	RequestID     string `json:"request_id"`
	Time          time.Time
	pageBlocks
	Placements []struct {
		Slots   int
		Reserve uint64 `json:"reserve_micros"`
		pageBlocks
	}
}

type pageBlocks struct {
	Block         []string
	Advertisers   []uint64 `json:"block_advertisers"`
	Domains       []string `json:"block_domains"`
	Categories    []string `json:"block_categories"`
	Uncategorised bool     `json:"block_uncategorised"`
}

// TestPlacements compares the oracle, and the search over its HTTP handler, with pages made by hand, so that whatever equals the oracle
// is right too.
func TestPlacements(t *testing.T) {
	for _, c := range placementsCases(t) {
		t.Run(c.Name, func(t *testing.T) {
			d := importTargeting(t, targetingCase{Files: c.Files})
			all, lists := d.all, d.lists
			slow, err := oracle.New(all.advertisers, all.campaigns, all.items, nil)
			if err != nil {
				t.Fatal(err)
			}
			h := d.handler(targetingCase{}, withLists{fill(t, all), lists})
			for i, r := range c.Requests {
				if diff := askPage(t, h, r.Request, r.Want); diff != "" {
					t.Errorf("%s\nover HTTP, request %d %s:\n%s", c.Comment, i, r.Request, diff)
				}
				if r.Want.Error != 0 || r.Want.Plain != nil {
					continue
				}
				if diff := explainsPage(t, h, r.Request, r.Want); diff != "" {
					t.Errorf("%s\nexplained, request %d %s:\n%s", c.Comment, i, r.Request, diff)
				}
				if diff := askOraclePage(t, slow, lists, r.Request, r.Want); diff != "" {
					t.Errorf("%s\nrequest %d %s:\n%s", c.Comment, i, r.Request, diff)
				}
			}
		})
	}
}

// explainsPage returns where the explanation of a placement has other winners, places or prices than the answer.
func explainsPage(t *testing.T, h http.Handler, raw json.RawMessage, w wantPage) string {
	t.Helper()
	var fields map[string]any
	if err := json.Unmarshal(raw, &fields); err != nil {
		t.Fatal(err)
	}
	list := fields["placements"].([]any)
	delete(fields, "placements")
	for _, name := range []string{"counts", "why_empty", "strict"} {
		delete(fields, name)
	}
	asked, err := url.ParseQuery(explained(fields))
	if err != nil {
		t.Fatal(err)
	}
	if slots, ok := fields["slots"]; ok {
		asked.Set("slots", fmt.Sprint(slots))
	}
	for _, one := range list {
		raw, err := json.Marshal(one)
		if err != nil {
			t.Fatal(err)
		}
		asked.Add("placement", string(raw))
	}
	for _, p := range w.Placements {
		if p.Error.Code != "" || p.ID == "" {
			continue
		}
		asked.Set("of_placement", p.ID)
		res := httptest.NewRecorder()
		h.ServeHTTP(res, httptest.NewRequest(http.MethodGet, "http://127.0.0.1/v1/explain?limit=1000&"+asked.Encode(), nil))
		var got struct {
			Placement string
			Matches   []struct {
				Verdict, Advertiser, Reason string
				Position                    int
				Price                       uint64 `json:"price_micros"`
			}
		}
		if err := json.Unmarshal(res.Body.Bytes(), &got); err != nil || res.Code != http.StatusOK || got.Placement != p.ID {
			return fmt.Sprintf("%s: %d %v %s", p.ID, res.Code, err, res.Body)
		}
		won := make([]string, len(p.Ads))
		for _, m := range got.Matches {
			if m.Verdict == search.Won.String() && m.Position <= len(won) {
				won[m.Position-1] = fmt.Sprintf("%s %d", m.Advertiser, m.Price)
			} else if m.Verdict == search.Won.String() || m.Reason == "" {
				return fmt.Sprintf("%s: %+v", p.ID, m)
			}
		}
		for i, ad := range p.Ads {
			if want := fmt.Sprintf("%v %.0f", ad["advertiser"], ad["price_micros"]); won[i] != want {
				return fmt.Sprintf("%s: place %d went to %q, not %q", p.ID, i+1, won[i], want)
			}
		}
	}
	return ""
}

// askPage returns how the answer over HTTP differs from the wanted one.
func askPage(t *testing.T, h http.Handler, raw json.RawMessage, w wantPage) string {
	t.Helper()
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		t.Fatal(err)
	}
	delete(fields, "request_id")
	body, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodPost, "/v1/search", bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	res := httptest.NewRecorder()
	h.ServeHTTP(res, r)
	var got struct {
		wantPage
		Ads   []map[string]any
		Error struct{ Field string }
	}
	if err := json.Unmarshal(res.Body.Bytes(), &got); err != nil {
		t.Fatalf("%v: %s", err, res.Body)
	}
	switch {
	case res.Code != max(w.Error, http.StatusOK) || got.Error.Field != w.Field:
		return fmt.Sprintf("%d at %q, want %d at %q: %s", res.Code, got.Error.Field, w.Error, w.Field, res.Body)
	case w.Error != 0:
		return ""
	case w.Plain != nil:
		got.Placements = []wantPlacement{{Matched: got.Matched, Candidates: got.Candidates, Ads: got.Ads}}
		w.Placements = []wantPlacement{{Matched: w.Matched, Candidates: w.Candidates, Ads: w.Plain}}
	case len(got.Ads) > 0:
		return fmt.Sprintf("%d ads beside the placements", len(got.Ads))
	}
	return pageDifference(got.wantPage, w)
}

// askOraclePage returns how the oracle's page differs from the wanted one. Invalid placements are left out, since the
// oracle does not check a request's form.
func askOraclePage(t *testing.T, slow *oracle.Oracle, lists map[string]*targeting.Blocks, raw json.RawMessage, w wantPage) string {
	t.Helper()
	q := pageRequest{Slots: 4, PerAdvertiser: 1}
	right := w
	right.Placements = nil
	request, err := rightPlacements(raw, w, &right)
	if err == nil {
		err = json.Unmarshal(request, &q)
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(right.Placements) == 0 {
		return ""
	}
	var list []oracle.Placement
	for _, p := range q.Placements {
		at := oracle.Placement{
			Slots: p.Slots, Reserve: max(p.Reserve, reserve), Advertisers: p.Advertisers, Domains: p.Domains, Categories: p.Categories, Uncategorised: p.Uncategorised,
		}
		if at.Slots == 0 {
			at.Slots = q.Slots
		}
		for _, name := range p.Block { // the cases' lists have only categories
			at.Categories = append(at.Categories, lists[name].Categories.List()...)
		}
		list = append(list, at)
	}
	page, err := slow.Page(oracle.Request{
		Text: q.Q, Profile: search.DefaultProfile(), Variants: search.Synonym, RequestID: q.RequestID,
		Context: &oracle.Context{Time: q.Time, BlockAdvertisers: q.Advertisers, BlockCategories: q.Categories, BlockDomains: q.Domains, BlockUncategorised: q.Uncategorised},
	}, list, q.PerAdvertiser)
	if err != nil {
		t.Fatal(err)
	}
	got := wantPage{Matched: page.Matched, Candidates: page.Candidates}
	for i, p := range page.Placements {
		at := wantPlacement{ID: right.Placements[i].ID, Why: right.Placements[i].Why, Matched: p.Matched, Candidates: p.Candidates}
		for _, a := range p.Ads {
			at.Ads = append(at.Ads, map[string]any{
				"advertiser": a.Advertiser.Name, "group": a.Item.Group.Name, "price_micros": float64(a.Price), "final_url": a.Ad.FinalURL, "position": float64(a.Position),
			})
		}
		got.Placements = append(got.Placements, at)
	}
	return pageDifference(got, right)
}

// rightPlacements removes the invalid placements from a request and from the wanted page.
func rightPlacements(raw json.RawMessage, w wantPage, right *wantPage) (json.RawMessage, error) {
	var fields map[string]json.RawMessage
	var list, kept []json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(fields["placements"], &list); err != nil {
		return nil, err
	}
	for i, p := range w.Placements {
		if p.Error.Code == "" {
			kept, right.Placements = append(kept, list[i]), append(right.Placements, p)
		}
	}
	var err error
	if fields["placements"], err = json.Marshal(kept); err != nil {
		return nil, err
	}
	return json.Marshal(fields)
}

// pageDifference returns how a page differs from the wanted one; it compares only the fields of ads that are wanted.
func pageDifference(got, w wantPage) string {
	var diff []string
	note := func(name string, got, want any) {
		if fmt.Sprint(got) != fmt.Sprint(want) {
			diff = append(diff, fmt.Sprintf("%s: %v, want %v", name, got, want))
		}
	}
	note("matched", got.Matched, w.Matched)
	note("candidates", got.Candidates, w.Candidates)
	note("placements", len(got.Placements), len(w.Placements))
	for i := range min(len(got.Placements), len(w.Placements)) {
		g, w := got.Placements[i], w.Placements[i]
		name := fmt.Sprintf("placement %d: ", i)
		note(name+"id", g.ID, w.ID)
		note(name+"error", g.Error, w.Error)
		note(name+"why", g.Why, w.Why)
		note(name+"matched", g.Matched, w.Matched)
		note(name+"candidates", g.Candidates, w.Candidates)
		note(name+"ads", len(g.Ads), len(w.Ads))
		for n := range min(len(g.Ads), len(w.Ads)) {
			note(fmt.Sprintf("%sposition of ad %d", name, n), g.Ads[n]["position"], n+1)
			for field, want := range w.Ads[n] {
				note(fmt.Sprintf("%sad %d: %s", name, n, field), g.Ads[n][field], want)
			}
		}
	}
	return strings.Join(diff, "\n")
}
