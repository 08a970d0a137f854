package console

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"adshard/internal/money"
	"adshard/internal/node/httpapi/api"
)

// placementForm is a placement of a page, as it was sent.
type placementForm struct{ ID, Slots, Reserve, Block string }

// placementForms returns the placements of the form, after adding or removing one if the form asks for that. `edited` says that it does,
// and that no query is to be made yet.
func placementForms(q url.Values) (list []placementForm, edited bool) {
	at := func(name string, i int) string {
		if all := q["placement_"+name]; i < len(all) {
			return all[i]
		}
		return ""
	}
	for i := range q["placement_id"] {
		list = append(list, placementForm{at("id", i), at("slots", i), at("reserve", i), at("block", i)})
	}
	if q.Has("add") && len(list) < api.MaxPlacements {
		list = append(list, placementForm{})
	}
	if i, err := strconv.Atoi(q.Get("remove")); err == nil && i >= 0 && i < len(list) {
		list = slices.Delete(list, i, i+1)
	}
	return list, q.Has("add") || q.Has("remove")
}

// MorePlacements reports whether another placement may be added.
func (f *queryForm) MorePlacements() bool { return len(f.Placements) < api.MaxPlacements }

// page adds the placements that are filled in to the parameters of a search. Errors: *refused.
func (f *queryForm) page(q url.Values) error {
	for _, p := range f.Placements {
		if p == (placementForm{}) {
			continue
		}
		text, err := p.json()
		if err != nil {
			return err
		}
		q.Add("placement", text)
	}
	if n := strings.TrimSpace(f.PerAdvertiser); n != "" && q.Has("placement") {
		q.Set("per_advertiser", n)
	}
	return nil
}

// json returns the placement as JSON. It checks only the reserve; the answer reports all other faults.
func (p placementForm) json() (string, error) {
	fields := map[string]any{"id": p.ID}
	if text := strings.TrimSpace(p.Slots); text != "" {
		fields["slots"] = text
		if n, err := strconv.Atoi(text); err == nil {
			fields["slots"] = n
		}
	}
	if text := strings.TrimSpace(p.Reserve); text != "" {
		n, ok := money.Parse(text)
		if !ok {
			return "", &refused{http.StatusBadRequest, strconv.Quote(text) + " is not an amount: write digits, and up to six more after a point"}
		}
		fields["reserve_micros"] = n
	}
	if names := wordsOf(p.Block); len(names) > 0 {
		fields["block"] = names
	}
	text, err := json.Marshal(fields)
	return string(text), err
}

// part is what a query gets and why. If the query has placements, it is what one of them gets.
type part struct {
	ID    string     // of the placement, if any
	Mark  string     // prefix of anchor names on this page, or "" if the request has no placements
	Error *api.Error // why the placement is not filled, or nil
	Ads   []api.Ad
	Empty []counted // why there are no ads
	// Steps are the steps of the auction, from the keywords that match to those that won. Passed names those that
	// dropped none.
	Steps   []step
	Passed  []string
	Matches []api.ExplainedKeyword
	Total   uint64
	// Wanted has the keywords that were asked for by name, whether they match or not. It is nil if none were.
	Wanted *api.ExplainAnswer
}

// partsOf returns the parts of an answer.
func partsOf(a *api.SearchAnswer) (list []part) {
	for i, p := range a.Placements {
		list = append(list, part{ID: p.ID, Mark: fmt.Sprintf("%d-", i+1), Error: p.Error, Ads: p.Ads, Empty: whyEmpty(p.Why)})
	}
	if list == nil {
		list = []part{{Ads: a.Ads, Empty: whyEmpty(a.Why)}}
	}
	return list
}
