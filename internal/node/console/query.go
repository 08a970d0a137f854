package console

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"adshard/internal/node/httpapi/api"
)

// queryPage shows a query, its answer, and why.
type queryPage struct {
	Form   queryForm
	Answer *api.SearchAnswer // nil: nothing is asked yet
	// Steps are the auction from the keywords that match to those that won.
	Steps   []step
	Matches []api.ExplainedKeyword
	Total   uint64
	// Stages are where the time of the search went.
	Stages []stage
	// Wanted are the keywords that are asked for by name, matching or not, or nil if there is
	// none.
	Wanted *api.ExplainAnswer
	// Unclear are names that no place has, or several.
	Unclear []unclearPlace
	// Asked are the parameters of the search, Empty why it has no ads.
	Asked url.Values
	Empty []counted
	names map[uint32]string // of places that factors and the request mention
}

// queryForm is the form as it was sent.
type queryForm struct {
	Q, Device, Variants, Slots, Keyword string
	Context                             contextForm
}

// step is one of the auction: that many keywords are left, so many have gone, for these reasons.
type step struct {
	Name       string
	Left, Gone int
	Width      int // of barWidth, for Left
	Why        []counted
}

// stage is a part of a search's time: a stage of the master, or, with a shard, a call to one of its
// replicas within the stage before. At and Width are of barWidth.
type stage struct {
	Name, Shard, Error string
	Us                 int64
	At, Width          int
}

// labTimeout is the time of a query, in milliseconds: people wait.
const labTimeout = "5000"

// labMatches is how many keywords are explained.
const labMatches = 1000

// labWanted is how many keywords of those asked for by name are shown.
const labWanted = 100

func (c *Console) query(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	l := &queryPage{Form: queryForm{Q: q.Get("q"), Device: q.Get("device"), Variants: q.Get("variants"), Slots: q.Get("slots"), Keyword: q.Get("keyword"), Context: contextOf(q)}}
	status, trouble := http.StatusOK, ""
	if q.Has("q") {
		if err := c.try(r, l); err != nil {
			status, trouble = statusOf(err), err.Error()
		}
	}
	c.show(w, r, status, "query", page{Title: "Query", Content: l, Trouble: trouble})
}

// try asks the query and has it explained.
func (c *Console) try(r *http.Request, l *queryPage) error {
	q, err := c.parameters(r, l)
	if err != nil {
		return err
	}
	l.Asked = q
	q.Set("q", l.Form.Q)
	q.Set("timeout_ms", labTimeout)
	for name, v := range map[string]string{"device": l.Form.Device, "variants": l.Form.Variants, "slots": l.Form.Slots} {
		if v != "" {
			q.Set(name, v)
		}
	}
	answer, explained := new(api.SearchAnswer), new(api.ExplainAnswer)
	q.Set("why_empty", "true")
	if err := ask(c.cfg.Search, r, http.MethodGet, "/v1/search", q, nil, answer); err != nil {
		return err
	}
	q.Del("why_empty")
	q.Set("limit", strconv.Itoa(labMatches))
	if err := ask(c.cfg.Search, r, http.MethodGet, "/v1/explain", q, nil, explained); err != nil {
		return err
	}
	l.Answer, l.Matches, l.Total, l.Empty = answer, explained.Matches, explained.Total, whyEmpty(answer)
	c.name(r, l)
	l.Steps, l.Stages = steps(explained.Matches), stages(&explained.Timing)
	if strings.TrimSpace(l.Form.Keyword) == "" {
		return nil
	}
	q.Set("why_not", l.Form.Keyword)
	q.Set("limit", strconv.Itoa(labWanted))
	l.Wanted = new(api.ExplainAnswer)
	return ask(c.cfg.Search, r, http.MethodGet, "/v1/explain", q, nil, l.Wanted)
}

// stages draws the stages one after the other, and calls within the stage that asks the shards.
func stages(t *api.Timing) []stage {
	whole := max(1, t.ExpandUs+t.SearchUs+t.AuctionUs)
	at := func(us int64) int { return int(min(barWidth, us*barWidth/whole)) }
	draw := func(s stage, began int64) stage {
		s.At = min(at(began), barWidth-1)
		s.Width = max(1, min(at(s.Us), barWidth-s.At))
		return s
	}
	out := []stage{draw(stage{Name: "expand the query", Us: t.ExpandUs}, 0), draw(stage{Name: "ask the shards", Us: t.SearchUs}, t.ExpandUs)}
	for _, c := range t.Calls {
		out = append(out, draw(stage{Name: c.Replica, Shard: c.Shard, Us: c.TookUs, Error: c.Error}, t.ExpandUs+c.BeganUs))
	}
	return append(out, draw(stage{Name: "hold the auction", Us: t.AuctionUs}, t.ExpandUs+t.SearchUs))
}

// auctionSteps are the steps of the auction in order, with the verdicts of the keywords that leave
// it there.
var auctionSteps = []struct {
	name     string
	verdicts []api.Verdict
}{
	{"are active and have an ad", []api.Verdict{api.VerdictKeywordPaused, api.VerdictGroupPaused, api.VerdictCampaignPaused, api.VerdictAdvertiserPaused, api.VerdictNoAd}},
	{"have budget", []api.Verdict{api.VerdictBudgetExhausted, api.VerdictThrottled}},
	{"are for this day", []api.Verdict{api.VerdictNotStarted, api.VerdictEnded}},
	{"are for this hour", []api.Verdict{api.VerdictOffSchedule}},
	{"are for this place", []api.Verdict{api.VerdictLocationExcluded, api.VerdictLocationUnknown, api.VerdictLocationMissed}},
	{"are for this language", []api.Verdict{api.VerdictLanguageMissed}},
	{"are for this user", []api.Verdict{api.VerdictAudienceExcluded, api.VerdictAudienceMissed}},
	{"are for this page", []api.Verdict{api.VerdictSiteExcluded, api.VerdictSiteMissed}},
	{"are not blocked by this page", []api.Verdict{api.VerdictBlocked}},
	{"have a bid for the device", []api.Verdict{api.VerdictNoBid, api.VerdictDeviceOff}},
	{"reach the reserve", []api.Verdict{api.VerdictBelowReserve}},
	{"are not blocked by a negative", []api.Verdict{api.VerdictBlockedByNegative}},
	{"are their advertiser's best", []api.Verdict{api.VerdictSuperseded}},
	{"won a place", []api.Verdict{api.VerdictLost}},
}

// steps counts how many keywords come how far.
func steps(matches []api.ExplainedKeyword) []step {
	verdicts := map[api.Verdict]int{}
	for i := range matches {
		verdicts[matches[i].Verdict]++
	}
	left := len(matches)
	out := []step{{Name: "match the words", Left: left}}
	for _, s := range auctionSteps {
		gone, n := map[api.Verdict]int{}, 0
		for _, v := range s.verdicts {
			if verdictTexts[v] != "" { // lost and superseded are told by the name of the step
				gone[v] = verdicts[v]
			}
			n += verdicts[v]
		}
		left -= n
		out = append(out, step{Name: s.name, Left: left, Gone: n, Why: countedOf(gone)})
	}
	for i := range out {
		if len(matches) > 0 {
			out[i].Width = (out[i].Left*barWidth + len(matches) - 1) / len(matches)
		}
	}
	return out
}
