package query

import (
	"math/bits"

	"adshard/schema/pb"
	"adshard/search"
	"adshard/search/words"
)

// agreements says which word of the keyword agreed with which of the query,
// under the language that agrees best. Postings hold hashes only: the words
// themselves are split again from both texts. None when a text cannot be
// split.
func agreements(r *search.Request, k *pb.Keyword) []search.Agreement {
	own, err := words.Split(k.Text)
	asked, err2 := words.Split(r.Query.Text)
	if err != nil || err2 != nil || len(own) != len(k.Norm) {
		return nil
	}
	kind := search.MatchType(k.Type)
	fits := bestForm(search.NewMatcher(r.Query, r.Profile), kind, k)
	out := make([]search.Agreement, len(own))
	for i, at := range positions(r.Profile[kind], fits) {
		out[i] = search.Agreement{Keyword: own[i].Norm, Level: levelAt(&fits[i], at)}
		if at < len(asked) {
			out[i].Query = asked[at].Norm
		}
	}
	return out
}

// bestForm returns the fits of the keyword's words in the form that agrees
// best.
func bestForm(m *search.Matcher, kind search.MatchType, k *pb.Keyword) []search.Fit {
	var best []search.Fit
	least := search.NoLevel
	for _, form := range k.Forms {
		fits := make([]search.Fit, len(k.Norm))
		for i := range fits {
			fits[i] = m.Fit(k.Norm[i], k.Fold[i], form.Terms[i])
		}
		if l := m.Level(kind, fits); best == nil || l < least {
			best, least = fits, l
		}
	}
	return best
}

// positions chooses for each word the place in the query that it is taken at:
// where order counts the best places in order, else each word's best.
func positions(rule search.Rule, fits []search.Fit) []int {
	out := make([]int, len(fits))
	for l := search.Identical; rule.Ordered && l < search.NoLevel; l++ {
		if inOrder(fits, l, rule.Adjacent || !rule.Others, out) {
			return out
		}
	}
	for i := range fits {
		out[i] = search.MaxQueryWords
		if fits[i].Best < search.NoLevel {
			out[i] = bits.TrailingZeros32(fits[i].At[fits[i].Best])
		}
	}
	return out
}

// inOrder finds places in order, adjacent ones if asked, at which all words
// agree at level or better.
func inOrder(fits []search.Fit, level search.Level, adjacent bool, out []int) bool {
	for start := range search.MaxQueryWords {
		at, ok := start, true
		for i := range fits {
			free := fits[i].At[level] >> at << at
			if at >= search.MaxQueryWords || free == 0 {
				return false // nor at any later start
			}
			out[i] = bits.TrailingZeros32(free)
			if adjacent && out[i] != start+i {
				ok = false
				break
			}
			at = out[i] + 1
		}
		if ok {
			return true
		}
	}
	return false
}

// levelAt is the level at which a word agrees with the query's word at a
// place.
func levelAt(f *search.Fit, at int) search.Level {
	for l := search.Identical; l < search.NoLevel; l++ {
		if at < search.MaxQueryWords && f.At[l]>>at&1 == 1 {
			return l
		}
	}
	return search.NoLevel
}
