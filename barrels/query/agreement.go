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
	own, asked, ok := splitBoth(r, k)
	if !ok {
		return nil
	}
	pairs := bestPairs(search.NewMatcher(r.Query, r.Profile), k)
	out := make([]search.Agreement, len(pairs))
	for i, p := range pairs {
		out[i] = agreement(own[i], p, asked)
	}
	return out
}

// splitBoth splits the texts of a keyword and a query. ok is false if the keyword's words are not those of its record.
func splitBoth(r *search.Request, k *pb.Keyword) (own, asked []words.Word, ok bool) {
	own, err := words.Split(k.Text)
	asked, _, _, err2 := search.Units(r.Query.Text)
	return own, asked, err == nil && err2 == nil && len(own) == len(k.Norm)
}

// agreement describes the pair of a keyword's word.
func agreement(own words.Word, p search.Pair, asked []words.Word) search.Agreement {
	a := search.Agreement{Keyword: own.Normalised, Level: p.Level}
	if p.Query >= 0 && p.Query+p.More < len(asked) {
		for _, w := range asked[p.Query : p.Query+p.More+1] {
			a.Query += w.Normalised
		}
	}
	return a
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
	own, asked, ok := splitBoth(r, k)
	if !ok {
		return
	}
	m := search.NewMatcher(r.Query, r.Profile)
	var which uint64
	var pairs []search.Pair
	for _, form := range k.Forms {
		why, these, p := m.Mismatch(search.MatchType(k.Type), appendFits(nil, m, k.Norm, k.Fold, form.Terms))
		if why > e.Mismatch || why == e.Mismatch && bits.OnesCount64(these) < bits.OnesCount64(which) {
			e.Mismatch, which, pairs = why, these, p
		}
	}
	of := own
	if e.Mismatch == search.OtherWords {
		of = asked
	}
	for i := range of {
		if which>>i&1 != 0 {
			e.MismatchWords = append(e.MismatchWords, of[i].Normalised)
		}
	}
	for i, p := range pairs {
		e.Words = append(e.Words, agreement(own[i], p, asked))
	}
}
