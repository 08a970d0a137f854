package oracle

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/cespare/xxhash/v2"

	"adshard/backend"
	"adshard/search"
	"adshard/search/words"
)

// Result is the answer to a request (serving.md §8).
type Result struct {
	Truncated           bool
	Matched, Candidates uint64
	Ads                 []Placed
}

// Placed is an ad with its position and with the texts that are shown.
type Placed struct {
	*Judged
	Ad *backend.Ad
}

// Search answers a request. It returns an error if the text is rejected.
func (o *Oracle) Search(r Request) (*Result, error) {
	judged, truncated, err := o.judge(&r)
	if err != nil {
		return nil, err
	}
	result := &Result{Truncated: truncated}
	for _, j := range judged {
		if result.count(j); j.Verdict == search.Won {
			result.Ads = append(result.Ads, j.placed(&r))
		}
	}
	slices.SortFunc(result.Ads, func(a, b Placed) int { return a.Position - b.Position })
	return result, nil
}

// count counts a keyword that matches.
func (r *Result) count(j *Judged) {
	switch j.Verdict {
	case search.KeywordPaused, search.GroupPaused, search.CampaignPaused, search.AdvertiserPaused, search.NoAd:
		return
	case search.Eligible, search.Won, search.Lost, search.Superseded:
		r.Candidates++
	}
	r.Matched++
}

// placed returns a winner with the ad that is shown for it.
func (j *Judged) placed(r *Request) Placed {
	ad, _ := filled(j.ad(r), j.Keyword.Text)
	if j.Keyword.FinalURL != "" {
		ad.FinalURL = j.Keyword.FinalURL
	}
	return Placed{Judged: j, Ad: ad}
}

// Explain returns all keywords that match, by descending score and then ascending keyword id, each with its verdict
// after the auction.
func (o *Oracle) Explain(r Request) ([]*Judged, error) {
	judged, _, err := o.judge(&r)
	return judged, err
}

// judge compares every keyword and runs the auction.
func (o *Oracle) judge(r *Request) (judged []*Judged, truncated bool, err error) {
	judged, truncated, err = o.matching(r)
	place(judged, r)
	return judged, truncated, err
}

// matching returns the keywords that match, in the order of the auction, with their verdicts before the auction.
func (o *Oracle) matching(r *Request) (judged []*Judged, truncated bool, err error) {
	query, truncated, err := o.query(r)
	if err != nil || len(query) == 0 {
		return nil, truncated, err
	}
	for _, w := range o.words {
		w.compare(query)
	}
	for i := range o.keywords {
		k := &o.keywords[i]
		rule := r.Profile[k.Type]
		rule.Reach = r.reach(k.Type)
		if level, _ := k.match(rule, len(query)); level != search.NoLevel {
			judged = append(judged, k.judge(level, query, r))
		}
	}
	slices.SortFunc(judged, inOrder)
	return judged, truncated, nil
}

func (o *Oracle) query(r *Request) (query []*word, truncated bool, err error) {
	if len(r.Text) > 1024 {
		return nil, false, fmt.Errorf("oracle: query of %d bytes", len(r.Text))
	}
	split, err := words.Split(r.Text)
	if err != nil {
		return nil, false, err
	}
	for i, w := range split {
		for _, unit := range words.AppendUnits(nil, w.Normalised) {
			if i == 32 || len(query) == 40 {
				return query, true, nil
			}
			if words.IsRun(unit) {
				w = words.Word{Normalised: unit, Fold: unit}
			}
			n := analyse(w, o.in, nil)
			if r.Variants == search.Misspelt {
				n.corrections = Corrections(r.Vocabulary, w.Fold)
			}
			query = append(query, n)
		}
	}
	return query, false, nil
}

// inOrder compares keywords by descending score and then ascending id.
func inOrder(a, b *Judged) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Keyword.ID, b.Keyword.ID))
}

// place implements the auction of serving.md §5 for keywords in order.
func place(judged []*Judged, r *Request) {
	best := map[uint64]*Judged{} // by advertiser
	var order []*Judged
	for _, j := range judged {
		if j.Verdict != search.Eligible {
			continue
		}
		if first := best[j.Advertiser.ID]; first != nil {
			j.Verdict, j.LostTo = search.Superseded, first.Keyword.ID
			continue
		}
		best[j.Advertiser.ID] = j
		order = append(order, j)
	}
	for i, j := range order {
		if i >= r.Slots {
			j.Verdict, j.LostTo = search.Lost, order[r.Slots-1].Keyword.ID
			continue
		}
		j.Verdict, j.Position, j.Price = search.Won, i+1, r.Reserve
		if i+1 == len(order) {
			continue
		}
		next := order[i+1]
		if price := (next.Score + j.Quality - 1) / j.Quality; price > r.Reserve {
			j.Price, j.SetBy = price, next.Keyword.ID
		}
	}
}

// ad returns the ad that is shown (serving.md §5.4).
func (j *Judged) ad(r *Request) *backend.Ad {
	ads := enabledAds(j.Item)
	if r.Context != nil && j.Keyword.FinalURL == "" {
		if shown := r.Context.shown(ads); len(shown) > 0 {
			ads = shown
		}
	}
	if !j.Campaign.RotateEvenly {
		return ads[0]
	}
	h := xxhash.Sum64String(r.RequestID + strconv.FormatUint(j.Item.Group.ID, 10))
	return ads[h%uint64(len(ads))]
}
