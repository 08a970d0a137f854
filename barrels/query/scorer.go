package query

import (
	"adshard/auction"
	"adshard/fault"
	"adshard/search"
)

// scorerRule is the request's scorer (serving.md §16). Let F be a number that no factor in the request exceeds. Then R′ ≤
// R × F ÷ 1000, so what scores below ⌈T × 1000 ÷ F⌉ before the scorer is below T after it, and bounds of R are compared with
// that. The scorer comes last. Postings of a class differ in quality, campaign and advertiser, so their order by R′ may be
// another, also among one advertiser's: each posting that the bound does not exclude is decided on by itself.
type scorerRule struct {
	scoring auction.Scoring // nil if the request has none
	highest uint64          // highest factor of any candidate
}

// reset begins a request. It returns fault.Version if this program does not have the scorer, or the
// request has no time.
func (s *scorerRule) reset(c *Engine, r *search.Request, op string) error {
	*s = scorerRule{}
	if r.Scorer == (search.ScorerID{}) {
		return nil
	}
	var scorer auction.Scorer
	if c.Scorers != nil {
		scorer = c.Scorers(r.Scorer)
	}
	switch {
	case scorer == nil:
		return search.ErrNoScorer(op, r.Scorer)
	case r.Context == nil:
		return fault.Newf(fault.Version, op, "the request is to be scored and has no context: update the program that asks")
	}
	at := r.Context.Time.UTC()
	situation := auction.Situation{
		Device: uint8(r.Device), Hour: uint8(at.Hour()), Weekday: uint8(at.Weekday()), Words: uint8(len(r.Query.Words)),
	}
	if r.Context.Site != nil {
		situation.Site = r.Context.Site.Host
	}
	s.scoring = scorer.For(&situation)
	s.highest = min(s.scoring.Most(), auction.MaxFactor)
	return nil
}

// most returns the highest score that the scorer can make of a score.
func (s *scorerRule) most(score uint64) uint64 {
	if s.scoring == nil {
		return score
	}
	return auction.MostScored(score, s.highest)
}

// least returns the lowest score that the scorer may raise to `need`.
func (s *scorerRule) least(need uint64) uint64 {
	if s.scoring == nil {
		return need
	}
	return auction.LeastUnscored(need, s.highest)
}

// score scores a candidate of the current block. It returns false if the scorer leaves nothing of
// its quality.
func (r *ranking) score(c *pageCandidate, s *groupStatus) bool {
	_, words := r.view.Posting(c.posting)
	f := featuresOf(c.kind, words.Len(), r.view.Quality(c.posting), s)
	c.quality, c.score = auction.Scored(c.effective, c.quality, r.scorer.scoring.Factor(&f))
	return c.quality > 0
}

// featuresOf returns the features of a keyword in a group with this status.
func featuresOf(kind search.MatchType, words int, quality uint8, s *groupStatus) auction.Features {
	return auction.Features{Match: uint8(kind), Words: uint8(words), Quality: quality, Advertiser: s.owner.ID, Campaign: s.campaign.ID}
}

// explain returns a keyword's factor and the parts it is made of.
func (s *scorerRule) explain(f *auction.Features) *search.Scored {
	out := &search.Scored{Factor: s.scoring.Factor(f)}
	for _, p := range s.scoring.Parts(f) {
		out.Parts = append(out.Parts, search.ScoredPart(p))
	}
	return out
}
