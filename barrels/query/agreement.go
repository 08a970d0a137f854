package query

import (
	"adshard/schema/pb"
	"adshard/search"
	"adshard/search/words"
)

// agreements says which word of the keyword agreed with which of the query, under
// the language that agrees best. Postings hold hashes only: the words themselves
// are split again from both texts. None when a text cannot be split.
func agreements(r *search.Request, k *pb.Keyword) []search.Agreement {
	own, err := words.Split(k.Text)
	asked, err2 := words.Split(r.Query.Text)
	if err != nil || err2 != nil || len(own) != len(k.Norm) {
		return nil
	}
	pairs := bestPairs(search.NewMatcher(r.Query, r.Profile), k)
	out := make([]search.Agreement, len(pairs))
	for i, p := range pairs {
		out[i] = search.Agreement{Keyword: own[i].Normalised, Level: p.Level}
		if p.Query >= 0 && p.Query < len(asked) {
			out[i].Query = asked[p.Query].Normalised
		}
	}
	return out
}

// bestPairs returns the pairs of the keyword's words in the form that agrees best.
func bestPairs(m *search.Matcher, k *pb.Keyword) []search.Pair {
	var best []search.Pair
	least := search.NoLevel
	fits := make([]search.Fit, len(k.Norm))
	for _, form := range k.Forms {
		for i := range fits {
			fits[i] = m.Fit(k.Norm[i], k.Fold[i], form.Terms[i])
		}
		if pairs, l := m.Pairs(search.MatchType(k.Type), fits); l < least {
			best, least = pairs, l
		}
	}
	return best
}
