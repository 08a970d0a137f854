package searchapi

import (
	"fmt"
	"strconv"
	"strings"

	"adshard/auction"
	"adshard/backend"
	"adshard/internal/money"
	"adshard/places"
	"adshard/search"
)

// settle replaces the verdict Eligible of each match by its outcome in the auction over `hits`. `matches` begin
// with the best one. `hits` are those of the same request: first one for each advertiser, best first.
func settle(matches []search.Explained, hits []search.Hit, placements []auction.Placement) {
	best := make(map[uint64]uint64) // its keyword in the auction, by advertiser
	for i := range hits {
		best[hits[i].Advertiser] = hits[i].Keyword
	}
	won := make(map[uint64]auction.Placement, len(placements))
	var last uint64
	for _, p := range placements {
		last = hits[p.Index].Keyword
		won[last] = p
	}
	for i := range matches {
		m := &matches[i]
		if m.Verdict != search.Eligible {
			continue
		}
		if _, ok := best[m.Advertiser]; !ok {
			best[m.Advertiser] = m.Keyword
		}
		p, place := won[m.Keyword]
		switch {
		case place:
			m.Verdict, m.Position, m.Price, m.SetBy = search.Won, p.Position, p.Price, p.SetBy
		case best[m.Advertiser] != m.Keyword:
			m.Verdict, m.LostTo = search.Superseded, best[m.Advertiser]
		default:
			m.Verdict, m.LostTo = search.Lost, last
		}
	}
}

// toWin sets the least bid that would have won a place among the hits, for settled matches that took part but
// have no place.
func toWin(matches []search.Explained, hits []search.Hit, req *search.Request) {
	best := make(map[uint64]auction.Candidate) // by advertiser
	for i := range hits {
		best[hits[i].Advertiser] = candidate(&hits[i])
	}
	for i := range matches {
		m := &matches[i]
		if m.Verdict > search.Superseded {
			continue
		}
		if _, ok := best[m.Advertiser]; !ok {
			best[m.Advertiser] = candidate(&m.Hit)
		}
		if m.Verdict == search.Won {
			continue
		}
		var others, own []auction.Candidate
		for i := range hits {
			if hits[i].Advertiser != m.Advertiser {
				others = append(others, candidate(&hits[i]))
			}
		}
		if b := best[m.Advertiser]; b.Keyword != m.Keyword {
			own = append(own, b)
		}
		if bid, ok := auction.ToWin(m.Keyword, m.Quality, m.Modifier, others, own, req.Slots, req.Reserve); ok {
			m.ToWin = bid
		}
	}
}

func candidate(h *search.Hit) auction.Candidate {
	return auction.Candidate{Keyword: h.Keyword, Advertiser: h.Advertiser, Score: h.Score, Quality: h.Quality}
}

// reason returns a settled verdict in words.
func reason(m *search.Explained, req *search.Request, names *places.Table) string {
	text := verdict(m, req, names)
	switch {
	case m.ToWin > 0:
		text += fmt.Sprintf("; a bid of %s would have a place", money.Format(m.ToWin))
	case m.Verdict != search.Unmatched && m.Mismatch != search.NoMismatch:
		text += "; and it does not match: " + mismatch(m)
	}
	return text
}

// mismatch says why a keyword does not match.
func mismatch(m *search.Explained) string {
	list := make([]string, len(m.MismatchWords))
	for i, w := range m.MismatchWords {
		list[i] = strconv.Quote(w)
	}
	named := strings.Join(list, ", ")
	switch m.Mismatch {
	case search.WordsMissing:
		return "no word of the query agrees with " + named
	case search.WordsDiffer:
		return fmt.Sprintf("%s agrees only as a variant that %s keywords, or this query, do not take", named, m.Type)
	case search.OtherWords:
		return fmt.Sprintf("the query also has %s, and %s keywords take no other words", named, m.Type)
	}
	return fmt.Sprintf("all its words are in the query, but not in the order, number or adjacency that %s keywords take", m.Type)
}

func verdict(m *search.Explained, req *search.Request, names *places.Table) string {
	switch m.Verdict {
	case search.Unmatched:
		return "it does not match: " + mismatch(m)
	case search.Won:
		return fmt.Sprintf("won place %d at %s, %s", m.Position, money.Format(m.Price), setBy(m.SetBy)) + standsIn(m.Defaults)
	case search.Lost:
		return fmt.Sprintf("took part, but all %d places went to better ones; keyword %d has the last", req.Slots, m.LostTo)
	case search.Superseded:
		return fmt.Sprintf("keyword %d of the same advertiser is better, and only the best of each takes part", m.LostTo)
	case search.BelowReserve:
		return fmt.Sprintf("its bid of %s (%s × %d ‰) is below the reserve of %s",
			money.Format(m.Effective), money.Format(m.Bid), m.Modifier, money.Format(req.Reserve))
	case search.DeviceOff:
		return fmt.Sprintf("not shown on %s: the bid modifier there is −100 %%", req.Device)
	case search.Throttled:
		return fmt.Sprintf("its campaign takes part in %s %% of the requests, to make its budget last, and not in this one",
			strconv.FormatFloat(float64(auction.Whole-min(m.Withheld, auction.Whole))/(auction.Whole/100), 'f', -1, 64))
	case search.BlockedByNegative:
		return fmt.Sprintf("blocked by the %s's negative %s keyword %q", m.NegativeOwner, m.NegativeType, m.Negative)
	}
	if m.Verdict.OfTargeting() {
		return targeted(m, req, names)
	}
	return plain(m.Verdict) + whyHeld(backend.Hold(m.Held))
}

// whyHeld says why something is paused regardless of its own status.
func whyHeld(h backend.Hold) (text string) {
	for _, name := range h.Reasons() {
		text += "; it is held, since " + map[string]string{
			backend.PausedByRow:    "its own row was rejected in the file that made it: correct the row and import it",
			backend.PausedByEnd:    "its end date is over, or cannot be read",
			backend.PausedByImport: "the import that made it has not come to the end of its file: import the same file again",
		}[name]
	}
	return text
}

// standsIn says in which texts of an ad a default replaces the keyword.
func standsIn(texts []string) string {
	if len(texts) == 0 {
		return ""
	}
	list := make([]string, len(texts))
	for i, s := range texts {
		list[i] = strconv.Quote(s)
	}
	return fmt.Sprintf("; the default of {KeyWord:…} stands in %s, too long with the keyword's text", strings.Join(list, ", "))
}

func plain(v search.Verdict) string {
	switch v {
	case search.KeywordPaused:
		return "the keyword is paused"
	case search.GroupPaused:
		return "its ad group is paused"
	case search.CampaignPaused:
		return "its campaign is paused"
	case search.AdvertiserPaused:
		return "its advertiser is paused"
	case search.NoAd:
		return "its ad group has no enabled ad with a headline that can be shown"
	case search.BudgetExhausted:
		return "its campaign's daily budget is 0, or marked as exhausted"
	case search.NoBid:
		return "neither it nor its ad group has a bid"
	case search.ScoredOut:
		return "the scorer's factor for it in this request is 0"
	}
	return v.String()
}

func setBy(keyword uint64) string {
	if keyword == 0 {
		return "the reserve"
	}
	return fmt.Sprintf("set by keyword %d", keyword)
}
