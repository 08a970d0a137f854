package searchapi

import (
	"slices"
	"strconv"
	"strings"

	"adshard/auction"
	"adshard/fault"
	"adshard/internal/node/httpapi/api"
	"adshard/search"
	"adshard/search/display"
)

// The answer to a search is appended member by member. It is byte for byte what encoding/json makes of
// api.SearchAnswer, but without reflection and with the slaves' pieces as they arrived.

// appendAnswer appends an answer up to took_us, which closeAnswer adds. Errors: fault.Corrupt if data
// to be shown is damaged.
func appendAnswer(b []byte, r *Result) ([]byte, error) {
	req, found := r.Request, r.Found
	b = display.AppendString(append(b, `{"query":`...), req.Query.Text)
	b = strconv.AppendBool(append(b, `,"truncated":`...), req.Query.Truncated)
	b, err := appendAds(append(b, `,"ads":`...), r, r.Won)
	if err != nil {
		return b, err
	}
	b = appendNumber(b, `,"matched":`, found.Matched)
	b = appendNumber(b, `,"candidates":`, r.Candidates())
	if !found.CountsExact {
		b = append(b, `,"counts":"`+api.SearchAnswerCountsLowerBound+`"`...)
	}
	b = appendContext(b, r)
	if id := req.Scorer.String(); id != "" {
		b = display.AppendString(append(b, `,"scorer":`...), id)
	}
	if b, err = appendPlacements(b, r); err != nil {
		return b, err
	}
	if r.words != "" {
		b = display.AppendString(append(b, `,"vocabulary_version":`...), r.words)
	}
	b = appendCoverage(append(b, `,"coverage":`...), found)
	return display.AppendString(append(b, `,"request_id":`...), req.RequestID), nil
}

// appendAds appends a list of winners. Errors: those of appendAnswer.
func appendAds(b []byte, r *Result, won []auction.Placement) ([]byte, error) {
	b = append(b, '[')
	var ok bool
	for i := range won {
		if i > 0 {
			b = append(b, ',')
		}
		if b, ok = appendAd(b, &won[i], &r.Found.Hits[won[i].Index], r.signing); !ok {
			return b, fault.Newf(fault.Corrupt, op, "what keyword %d shows is damaged", r.Found.Hits[won[i].Index].Keyword)
		}
	}
	return append(b, ']'), nil
}

// appendContext appends what an answer says about the request's context.
func appendContext(b []byte, r *Result) []byte {
	if r.why != nil {
		b = appendWhy(append(b, `,"why":{`...), r.Why())
	}
	if r.context.version != "" {
		b = display.AppendString(append(b, `,"locations_version":`...), r.context.version)
	}
	for i, id := range r.context.unknown {
		separator := `,`
		if i == 0 {
			separator = `,"unknown_locations":[`
		}
		b = appendNumber(b, separator, uint64(id))
	}
	if len(r.context.unknown) > 0 {
		b = append(b, ']')
	}
	if r.context.Context != nil && r.context.UnknownLocation {
		b = append(b, `,"unknown_location":"include"`...)
	}
	return b
}

// appendWhy appends the verdicts that keep keywords from taking part, by name, and the closing bracket.
func appendWhy(b []byte, list []KeptOut) []byte {
	for i, w := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendNumber(append(display.AppendString(b, w.Verdict.String()), ':'), "", w.Keywords)
	}
	return append(b, '}')
}

// closeAnswer completes an answer.
func closeAnswer(b []byte, tookUs int64) []byte {
	b = strconv.AppendInt(append(b, `,"took_us":`...), tookUs, 10)
	return append(b, "}\n"...)
}

// appendAd appends an ad. It returns false if data of the ad is damaged.
func appendAd(b []byte, p *auction.Placement, h *search.Hit, s *signing) ([]byte, bool) {
	v, ok := h.Display.Values()
	if !ok {
		return b, false
	}
	b = appendNumber(b, `{"position":`, uint64(p.Position))
	b = appendNumber(b, `,"ad_id":`, h.Ad)
	b = appendNumber(b, `,"keyword_id":`, h.Keyword)
	b = appendNumber(b, `,"group_id":`, h.Group)
	b = appendNumber(b, `,"campaign_id":`, h.Campaign)
	b = appendNumber(b, `,"advertiser_id":`, h.Advertiser)
	b = append(append(b, `,"advertiser":`...), v.Advertiser...)
	b = append(append(b, `,"campaign":`...), v.Campaign...)
	b = append(append(b, `,"group":`...), v.Group...)
	b = append(append(b, `,"keyword":`...), v.Keyword...)
	b = append(append(b, `,"match_type":"`...), h.Type.String()...)
	b = append(append(b, `","variant":"`...), h.Level.String()...)
	b = appendNumber(b, `","price_micros":`, p.Price)
	b = append(append(b, `,"headlines":`...), v.Headlines...)
	b = append(append(b, `,"descriptions":`...), v.Descriptions...)
	b = append(append(b, `,"path":`...), v.Path...)
	b = append(append(b, `,"final_url":`...), v.FinalURL...)
	return append(s.append(b, p, h), '}'), true
}

func appendNumber(b []byte, name string, n uint64) []byte {
	return strconv.AppendUint(append(b, name...), n, 10)
}

func appendCoverage(b []byte, found *search.Answer) []byte {
	complete := found.Width == search.WholeRing()
	b = appendNumber(b, `{"shards":`, uint64(found.Shards))
	b = appendNumber(b, `,"answered":`, uint64(found.Answered))
	b = strconv.AppendBool(append(b, `,"complete":`...), complete)
	b = appendMissing(b, found.Missing)
	b = strconv.AppendBool(append(b, `,"prices_exact":`...), complete)
	b = appendNumber(b, `,"applied_clock":`, found.AppliedClock)
	b = appendNumber(b, `,"lag_ms":`, uint64(found.Lag.Milliseconds()))
	return append(b, '}')
}

// appendMissing appends the names of the missing shards, and the reasons by name.
func appendMissing(b []byte, list []search.Missing) []byte {
	b = append(b, `,"missing":[`...)
	for i, m := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = display.AppendString(b, m.Shard)
	}
	b = append(b, ']')
	if len(list) == 0 {
		return b
	}
	byName := slices.Clone(list)
	slices.SortStableFunc(byName, func(m, n search.Missing) int { return strings.Compare(m.Shard, n.Shard) })
	b = append(b, `,"reasons":{`...)
	for i, m := range byName {
		if i+1 < len(byName) && byName[i+1].Shard == m.Shard {
			continue // the last one takes precedence
		}
		b = append(display.AppendString(b, m.Shard), ':', '"')
		b = append(append(b, m.Reason.String()...), '"', ',')
	}
	b[len(b)-1] = '}'
	return b
}
