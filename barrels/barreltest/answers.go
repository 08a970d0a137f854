package barreltest

import (
	"context"
	"fmt"
	"slices"

	"adshard/auction"
	"adshard/backend"
	"adshard/barrels"
	"adshard/internal/oracle"
	"adshard/internal/oracle/oracletest"
	"adshard/search"
	"adshard/search/words"
)

// Judge returns the oracle of a world.
func Judge(t TB, w *oracletest.World, lex *words.Lexicon) *oracle.Oracle {
	t.Helper()
	o, err := oracle.NewIn(w.Languages, w.Advertisers, w.Campaigns, w.Items, lex)
	if err != nil {
		t.Fatalf("oracle: %v", err)
	}
	return o
}

// Request converts an oracle's request into a store's.
func Request(t TB, r oracle.Request, lex *words.Lexicon) *search.Request {
	t.Helper()
	q, err := oracletest.Expand(&r, lex)
	if err != nil {
		t.Fatalf("expand %q: %v", r.Text, err)
	}
	request := &search.Request{
		Query: q, Profile: r.Profile.Capped(r.Variants), Device: r.Device, Slots: r.Slots,
		Reserve: r.Reserve, RequestID: r.RequestID, Context: Context(r.Context),
	}
	if r.Scorer != nil {
		request.Scorer = r.Scorer.ID
	}
	return request
}

// SameAnswer fails if a store's answer is incomplete or is not the oracle's, with exact counts or
// without.
func SameAnswer(t TB, s search.Searcher, o *oracle.Oracle, r oracle.Request, lex *words.Lexicon) {
	t.Helper()
	SameAnswerIn(t, s, o, r, lex, 0, search.WholeRing())
}

// SameAnswerIn fails if a store's answer in a view has another width, or differs from that of an
// oracle with the groups served in the view.
func SameAnswerIn(t TB, s search.Searcher, o *oracle.Oracle, r oracle.Request, lex *words.Lexicon, view uint64, width search.Width) {
	t.Helper()
	want, err := o.Search(r)
	if err != nil {
		t.Fatalf("oracle: %v", err)
	}
	q := Request(t, r, lex)
	q.View = view
	for _, exact := range []bool{false, true} {
		q.ExactCounts = exact
		a, err := s.Search(context.Background(), q)
		if err != nil {
			t.Fatalf("search %q: %v", r.Text, err)
		}
		if a.Width != width || a.Work.BlocksBad != 0 {
			t.Fatalf("%q: width %v of %v, %d bad", r.Text, a.Width, width, a.Work.BlocksBad)
		}
		if got, want := shown(a, r), placed(want); !slices.Equal(got, want) {
			t.Fatalf("%q (%+v, exact %v, view %d):\n got %v\nwant %v", r.Text, r, exact, view, got, want)
		}
		sameCounts(t, a, want, exact)
	}
}

func sameCounts(t TB, a *search.Answer, want *oracle.Result, exact bool) {
	t.Helper()
	if a.CountsExact != exact {
		t.Fatalf("asked for exact counts: %v, got: %v", exact, a.CountsExact)
	}
	ok := a.Matched == want.Matched && a.Candidates == want.Candidates
	if !exact {
		ok = a.Matched <= want.Matched && a.Candidates <= want.Candidates
	}
	if !ok {
		t.Fatalf("exact %v: matched %d of %d, candidates %d of %d", exact,
			a.Matched, want.Matched, a.Candidates, want.Candidates)
	}
}

// shown returns what an answer shows after the auction, one line per place.
func shown(a *search.Answer, r oracle.Request) []string {
	list := make([]auction.Candidate, len(a.Hits))
	for i := range a.Hits {
		list[i] = candidate(&a.Hits[i])
	}
	return lines(a, auction.Finish(list, r.Slots, r.Reserve))
}

// lines returns what an answer shows of the winners, one line each.
func lines(a *search.Answer, won []auction.Placement) (out []string) {
	for _, p := range won {
		h := &a.Hits[p.Index]
		c, err := h.Display.Content()
		out = append(out, fmt.Sprint(h.Keyword, h.Group, h.Campaign, h.Advertiser, h.Score, h.Quality, h.Type, h.Level,
			c.Advertiser, c.Campaign, c.Group, c.Keyword, h.Ad, c.Headlines, c.Descriptions, c.Path, c.FinalURL, err,
			p.Price, p.SetBy))
	}
	return out
}

// path returns the display path of an ad.
func path(ad *backend.Ad) string {
	if ad.Path2 == "" {
		return ad.Path1
	}
	return ad.Path1 + "/" + ad.Path2
}

// placed returns what shown does, for the oracle's result.
func placed(r *oracle.Result) []string {
	var out []string
	for _, p := range r.Ads {
		out = append(out, fmt.Sprint(p.Keyword.ID, p.Item.Group.ID, p.Campaign.ID, p.Advertiser.ID, p.Score, p.Quality,
			p.Keyword.Type, p.Level, p.Advertiser.Name, p.Campaign.Name, p.Item.Group.Name, p.Keyword.Text,
			p.Ad.ID, p.Ad.Headlines, p.Ad.Descriptions, path(p.Ad), p.Ad.FinalURL, nil, p.Price, p.SetBy))
	}
	return out
}

// SameExplanation fails if a store's explanation differs from the oracle's.
func SameExplanation(t TB, s barrels.Store, o *oracle.Oracle, r oracle.Request, lex *words.Lexicon) {
	t.Helper()
	want, err := o.Explain(r)
	if err != nil {
		t.Fatalf("oracle: %v", err)
	}
	e, err := s.Explain(context.Background(), Request(t, r, lex), 1000)
	if err != nil {
		t.Fatalf("explain %q: %v", r.Text, err)
	}
	if e.Total != uint64(len(want)) || len(e.Matches) != len(want) {
		t.Fatalf("%q: %d of %d matches, want %d", r.Text, len(e.Matches), e.Total, len(want))
	}
	for i, w := range want {
		if got, want := explained(&e.Matches[i]), judged(w); got != want {
			t.Fatalf("%q, match %d:\n got %s\nwant %s", r.Text, i, got, want)
		}
		checkAgreements(t, &e.Matches[i])
	}
}

func explained(e *search.Explained) string {
	return fmt.Sprint(e.Keyword, e.Group, e.Campaign, e.Advertiser, e.Score, e.Quality, e.Type, e.Level,
		e.AdvertiserName, e.CampaignName, e.GroupName, e.KeywordText,
		e.Verdict, e.Bid, e.Modifier, e.Effective, e.BidFromGroup, e.Negative, e.NegativeOwner,
		e.Points, e.Learned, e.Given, e.Defaults, e.Held, factorOf(e.Scored))
}

// factorOf returns a scorer's factor, or 0 if there was no scorer.
func factorOf(s *search.Scored) uint64 {
	if s == nil {
		return 0
	}
	return s.Factor
}

func judged(j *oracle.Judged) string {
	verdict, negative, owner := j.Verdict, "", ""
	switch verdict {
	case search.Won, search.Lost, search.Superseded:
		verdict = search.Eligible
	}
	if n := j.Negative; n != nil {
		switch negative = n.Text; {
		case n.GroupID != 0:
			owner = "group"
		case n.CampaignID != 0:
			owner = "campaign"
		default:
			owner = "advertiser"
		}
	}
	fromGroup := !j.Keyword.HasBid && j.Item.Group.HasBid
	points, given := j.Keyword.Quality, uint8(0)
	if learned := uint8(j.Keyword.Learned % 16); learned > 0 {
		points, given = learned, points
	}
	return fmt.Sprint(j.Keyword.ID, j.Item.Group.ID, j.Campaign.ID, j.Advertiser.ID, j.Score, j.Quality,
		j.Keyword.Type, j.Level, j.Advertiser.Name, j.Campaign.Name, j.Item.Group.Name, j.Keyword.Text,
		verdict, j.Bid, j.Modifier, j.Effective, fromGroup, negative, owner, points, uint64(j.Keyword.Learned), given, j.Defaults, heldBy(j), j.Factor)
}

// heldBy returns why the group or campaign that the verdict names as paused is held.
func heldBy(j *oracle.Judged) uint32 {
	h := j.Item.Group.Hold
	switch j.Verdict {
	case search.CampaignPaused:
		h = j.Campaign.Hold
	case search.GroupPaused:
	default:
		return 0
	}
	code := uint32(h % 4)
	if h >= 4 {
		code += 4
	}
	return code
}

// checkAgreements checks that each word has an agreement, and that the worst one is the level of
// the match.
func checkAgreements(t TB, e *search.Explained) {
	t.Helper()
	split, err := words.Split(e.KeywordText)
	if err != nil || len(split) != len(e.Words) {
		t.Fatalf("%q: %d agreements, %v", e.KeywordText, len(e.Words), err)
	}
	worst := search.Identical
	for i, a := range e.Words {
		worst = max(worst, a.Level)
		if a.Keyword != split[i].Normalised || a.Query == "" || (a.Level == search.Identical) != (a.Keyword == a.Query) {
			t.Fatalf("%q: word %d agrees as %+v", e.KeywordText, i, a)
		}
	}
	if worst != e.Level {
		t.Fatalf("%q matches %v, its words %+v", e.KeywordText, e.Level, e.Words)
	}
}
