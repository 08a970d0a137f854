package searchapi

import (
	"math/rand/v2"
	"time"

	"adshard/auction"
	"adshard/events/token"
	"adshard/search"
)

// signing makes the event tokens of one answer.
type signing struct {
	ring *token.Ring
	of   token.Token // what the ads of the answer share
}

// signing returns the signing for an answer, or nil if there are no event tokens.
func (c *call) signing(req *search.Request, now time.Time) *signing {
	if c.EventKeys == nil {
		return nil
	}
	var words [search.MaxQueryUnits]uint64
	n := 0
	for i := range req.Query.Words[:min(len(req.Query.Words), len(words))] {
		words[i] = req.Query.Words[i].Norm
		n++
	}
	return &signing{c.EventKeys(), token.Token{Served: now, Nonce: rand.Uint64(), Query: token.QueryHash(words[:n]...)}}
}

// append appends the token of an ad as a JSON member, or nothing if there is no key.
func (s *signing) append(b []byte, p *auction.Placement, h *search.Hit) []byte {
	if s == nil {
		return b
	}
	before := len(b)
	b, ok := s.token(append(b, `,"event_token":"`...), p, h)
	if !ok {
		return b[:before]
	}
	return append(b, '"')
}

// token appends the token of an ad. ok is false if there is no key.
func (s *signing) token(b []byte, p *auction.Placement, h *search.Hit) ([]byte, bool) {
	t := s.of
	t.Position, t.Price = uint8(p.Position), p.Price
	t.Advertiser, t.Campaign, t.Keyword, t.Ad = h.Advertiser, h.Campaign, h.Keyword, h.Ad
	return s.ring.Append(b, &t)
}

// EventToken returns the token of one of the winners, or "" if there are no tokens.
func (r *Result) EventToken(p *auction.Placement) string {
	if r.signing == nil {
		return ""
	}
	b, _ := r.signing.token(nil, p, &r.Found.Hits[p.Index])
	return string(b)
}
