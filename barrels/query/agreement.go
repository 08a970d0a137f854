package query

import (
	"math/bits"

	"adshard/schema/pb"
	"adshard/search"
	"adshard/search/words"
)

// agreements pairs each word of the keyword with the query's word that it agrees with, in the best
// language. Postings hold only hashes, so both texts are split again. It returns nil if a text cannot be
// split.
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
	var fits []search.Fit
	for _, form := range k.Forms {
		fits = appendFits(fits[:0], m, k.Norm, k.Fold, form.Terms)
		if pairs, l := m.Pairs(search.MatchType(k.Type), fits); l < least {
			best, least = pairs, l
		}
	}
	return best
}

// appendFits appends the fit of each word of a form.
func appendFits(dst []search.Fit, m *search.Matcher, norm, fold, terms []uint64) []search.Fit {
	for i := range norm {
		dst = append(dst, m.Fit(norm[i], fold[i], terms[i]))
	}
	return dst
}

// disagreements sets why a keyword does not match and how its words agree, in the language in which it
// comes closest. It sets nothing if a text cannot be split.
func disagreements(e *search.Explained, r *search.Request, k *pb.Keyword) {
	own, err := words.Split(k.Text)
	asked, err2 := words.Split(r.Query.Text)
	if err != nil || err2 != nil || len(own) != len(k.Norm) {
		return
	}
	m := search.NewMatcher(r.Query, r.Profile)
	var which uint32
	var pairs []search.Pair
	for _, form := range k.Forms {
		why, these, p := m.Mismatch(search.MatchType(k.Type), appendFits(nil, m, k.Norm, k.Fold, form.Terms))
		if why > e.Mismatch || why == e.Mismatch && bits.OnesCount32(these) < bits.OnesCount32(which) {
			e.Mismatch, which, pairs = why, these, p
		}
	}
	of := own
	if e.Mismatch == search.OtherWords {
		of = asked
	}
	for i := range of {
		if i < 32 && which&(1<<i) != 0 {
			e.MismatchWords = append(e.MismatchWords, of[i].Normalised)
		}
	}
	for i, p := range pairs {
		a := search.Agreement{Keyword: own[i].Normalised, Level: p.Level}
		if p.Query >= 0 && p.Query < len(asked) {
			a.Query = asked[p.Query].Normalised
		}
		e.Words = append(e.Words, a)
	}
}
