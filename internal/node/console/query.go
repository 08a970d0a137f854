package console

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"adshard/internal/node/httpapi/api"
)

// queryPage shows a query, its answer, and why.
type queryPage struct {
	Form   queryForm
	Answer *api.SearchAnswer // nil if nothing has been asked yet
	Parts  []part
	// Stages say where the time of the search went. They are empty if nothing was explained.
	Stages []stage
	// Unclear are the names of places that no place has, or several have.
	Unclear []unclearPlace
	// Asked are the parameters of the search.
	Asked url.Values
	names map[uint32]string // names of the places that factors and the request mention
}

// queryForm is the form as it was sent.
type queryForm struct {
	Q, Device, Variants, Slots, Keyword, PerAdvertiser string
	Context                                            contextForm
	Placements                                         []placementForm
}

// step is a step of the auction: how many keywords are left after it, and how many were dropped,
// for which reasons.
type step struct {
	Name       string
	Left, Gone int
	Width      int // for Left, in units of which barWidth is the whole
	Why        []counted
}

// stage is a part of a search's time: a stage of the master or, if Shard is set, a call to a
// replica of that shard within the stage before it. At and Width are in units of which barWidth is
// the whole.
type stage struct {
	Name, Shard, Error string
	Us                 int64
	At, Width          int
}

// labTimeout is the time limit of a query, in milliseconds: a person is waiting.
const labTimeout = "5000"

// labMatches bounds the keywords that are explained, over all placements.
const labMatches = 1000

// labWanted bounds the keywords shown among those that were asked for by name.
const labWanted = 100

func (c *Console) query(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	l := &queryPage{Form: queryForm{Q: q.Get("q"), Device: q.Get("device"), Variants: q.Get("variants"), Slots: q.Get("slots"), Keyword: q.Get("keyword"), PerAdvertiser: q.Get("per_advertiser"), Context: contextOf(q)}}
	var edited bool
	l.Form.Placements, edited = placementForms(q)
	status, trouble := http.StatusOK, ""
	if q.Has("q") && !edited {
		if err := c.try(r, l); err != nil {
			status, trouble = statusOf(err), err.Error()
		}
	}
	c.show(w, r, status, "query", page{Title: "Query", Content: l, Trouble: trouble})
}

// try makes the query and has it explained.
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
	if err := l.Form.page(q); err != nil {
		return err
	}
	answer := new(api.SearchAnswer)
	q.Set("why_empty", "true")
	if q.Has("placement") {
		err = ask(c.cfg.Search, r, http.MethodPost, "/v1/search", nil, api.BodyOf(q), answer)
	} else {
		err = ask(c.cfg.Search, r, http.MethodGet, "/v1/search", q, nil, answer)
	}
	if err != nil {
		return err
	}
	q.Del("why_empty")
	l.Parts = partsOf(answer)
	for i := range l.Parts {
		if err := c.explain(r, l, &l.Parts[i]); err != nil {
			return err
		}
	}
	l.Answer = answer
	c.name(r, l)
	return nil
}

// explain has a part explained, unless it is a placement that was not filled.
func (c *Console) explain(r *http.Request, l *queryPage, p *part) error {
	if p.Error != nil {
		return nil
	}
	q := maps.Clone(l.Asked)
	if p.Mark != "" {
		q.Set("of_placement", p.ID)
	}
	q.Set("limit", strconv.Itoa(labMatches/len(l.Parts)))
	explained := new(api.ExplainAnswer)
	if err := ask(c.cfg.Search, r, http.MethodGet, "/v1/explain", q, nil, explained); err != nil {
		return err
	}
	p.Matches, p.Total = explained.Matches, explained.Total
	p.Steps, p.Passed = telling(steps(explained))
	if l.Stages == nil {
		l.Stages = stages(&explained.Timing)
	}
	if strings.TrimSpace(l.Form.Keyword) == "" {
		return nil
	}
	q.Set("why_not", l.Form.Keyword)
	q.Set("limit", strconv.Itoa(labWanted))
	p.Wanted = new(api.ExplainAnswer)
	return ask(c.cfg.Search, r, http.MethodGet, "/v1/explain", q, nil, p.Wanted)
}

// Replicas reports whether the name of any replica that was asked is not its shard's.
func (l *queryPage) Replicas() bool {
	return slices.ContainsFunc(l.Stages, func(s stage) bool { return s.Shard != "" && s.Name != s.Shard })
}

// stages draws the stages one after the other, and the calls within the stage that asks the shards.
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

const (
	// scoredStep appears only if there is a scorer.
	scoredStep = "have a factor above 0"
	// In a placement, bestStep is replaced by furtherStep.
	bestStep    = "are their advertiser's best"
	furtherStep = "may have a place besides the earlier ones"
)

// auctionSteps are the steps of the auction in order, each with the verdicts of the keywords that
// it drops.
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
	{scoredStep, []api.Verdict{api.VerdictScoredOut}},
	{bestStep, []api.Verdict{api.VerdictSuperseded}},
	{"won a place", []api.Verdict{api.VerdictLost}},
}

// scoredOf writes the factor that a scorer gave to a quality, and the parts that it is made of.
func scoredOf(s *api.Scored) string {
	var parts []string
	for _, p := range s.Parts {
		weight := strings.Replace(fmt.Sprintf("%+d", p.Weight), "-", "−", 1)
		parts = append(parts, strings.Join(slices.DeleteFunc([]string{p.Feature, p.Value, weight}, func(text string) bool { return text == "" }), " "))
	}
	text := "scorer " + signed(int(s.FactorPermille))
	if len(parts) > 0 {
		text += " (" + strings.Join(parts, ", ") + ")"
	}
	return text
}

// telling separates the steps that dropped a keyword, the first and the last, from the names of all others.
func telling(all []step) (list []step, others []string) {
	for i, s := range all {
		if i == 0 || i == len(all)-1 || s.Gone > 0 {
			list = append(list, s)
		} else {
			others = append(others, s.Name)
		}
	}
	return list, others
}

// steps counts how many keywords are left after each step.
func steps(a *api.ExplainAnswer) []step {
	matches, verdicts := a.Matches, map[api.Verdict]int{}
	for i := range matches {
		verdicts[matches[i].Verdict]++
	}
	left := len(matches)
	out := []step{{Name: "match the words", Left: left}}
	for _, s := range auctionSteps {
		switch {
		case s.name == scoredStep && a.Scorer == "":
			continue
		case s.name == bestStep && a.Placement != "":
			s.name = furtherStep
		}
		gone, n := map[api.Verdict]int{}, 0
		for _, v := range s.verdicts {
			if verdictTexts[v] != "" { // the names of the steps explain lost and superseded
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
