package wire

import (
	"testing"

	"adshard/search"
)

// TestSharedMessage: a request is translated and encoded once, and not the same as
// another one.
func TestSharedMessage(t *testing.T) {
	s := Share(&search.Request{Query: new(search.Query), Slots: 3})
	if first := s.Message(); first.Slots != 3 || s.Message() != first {
		t.Error("the message is made anew")
	}
	if first := s.Encoded(); &s.Encoded()[0] != &first[0] {
		t.Error("the encoding is made anew")
	}
	r, err := ParseRequest(s.Encoded())
	if err != nil || r.Slots != 3 {
		t.Errorf("%+v, %v", r, err)
	}
}
