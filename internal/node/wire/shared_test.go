package wire

import (
	"testing"

	"adshard/search"
)

// TestShared: a request is encoded once, also with other tags, which are its own.
func TestShared(t *testing.T) {
	s := Share(&search.Request{Query: new(search.Query), Slots: 3})
	hedge := s.With(search.Tags{Hedge: true})
	if first := s.Encoded(); &s.Encoded()[0] != &first[0] || &hedge.Encoded()[0] != &first[0] {
		t.Error("the encoding is made anew")
	}
	if s.Request().Hedge || !hedge.Request().Hedge || hedge.Request().Slots != 3 {
		t.Errorf("%+v of %+v", hedge.Request(), s.Request())
	}
	r, err := ParseRequest(s.Encoded())
	if err != nil || r.Slots != 3 {
		t.Errorf("%+v, %v", r, err)
	}
}
