package oracle

import (
	"slices"

	"adshard/search"
)

// Unmatched returns the keywords that do not match, by ascending id, each with the first reason against it: a reason
// that comes before its bid, or else search.Unmatched.
func (o *Oracle) Unmatched(r Request) ([]*Judged, error) {
	query, _, err := o.query(&r)
	if err != nil {
		return nil, err
	}
	for _, w := range o.words {
		w.compare(query)
	}
	farthest := search.Identical
	for t := range r.Profile {
		farthest = max(farthest, r.reach(search.MatchType(t)))
	}
	var out []*Judged
	for i := range o.keywords {
		k := &o.keywords[i]
		rule := r.Profile[k.Type]
		rule.Reach = r.reach(k.Type)
		if level, _ := k.match(rule, len(query)); level != search.NoLevel {
			continue
		}
		j := k.judge(search.NoLevel, query, &r)
		switch j.Verdict {
		case search.KeywordPaused, search.GroupPaused, search.CampaignPaused, search.AdvertiserPaused, search.NoAd, search.BudgetExhausted, search.Throttled:
		default:
			j.Verdict, j.Negative = search.Unmatched, nil
		}
		j.Mismatch = k.mismatch(rule, farthest, len(query))
		out = append(out, j)
	}
	slices.SortFunc(out, func(a, b *Judged) int { return int(a.Keyword.ID) - int(b.Keyword.ID) })
	return out, nil
}

// mismatch returns why a keyword does not match, under the language in which it comes closest to matching.
func (k *keyword) mismatch(rule search.Rule, farthest search.Level, n int) search.Mismatch {
	why := search.WordsMissing
	for _, language := range k.languages {
		switch t := k.table(language, rule.Reach, n); {
		case !whole(k.table(language, farthest, n)):
		case !whole(t):
			why = max(why, search.WordsDiffer)
		case !rule.Others && slices.ContainsFunc(upTo(n), func(j int) bool { return !t.covers(j, 0, n) }):
			why = max(why, search.OtherWords)
		default:
			why = search.Arrangement
		}
	}
	return why
}

// whole reports whether each word of the keyword agrees with some word of the query.
func whole(t table) bool {
	return t != nil && !slices.ContainsFunc(t, func(r row) bool { return slices.Min(r.levels) == search.NoLevel })
}

func upTo(n int) (list []int) {
	for i := range n {
		list = append(list, i)
	}
	return list
}
