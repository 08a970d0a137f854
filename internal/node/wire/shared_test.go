package wire

import (
	"testing"

	"adshard/search"
)

// TestSharedMessage: a request is translated once in its own context, and another
// request is never taken for it.
func TestSharedMessage(t *testing.T) {
	r, other := &search.Request{Slots: 3}, &search.Request{Slots: 4}
	ctx := Share(r).With(t.Context())
	if first := Message(ctx, r); first.Slots != 3 || Message(ctx, r) != first {
		t.Error("the message is made anew")
	}
	if m := Message(ctx, other); m.Slots != 4 {
		t.Errorf("another request has %d slots, not 4", m.Slots)
	}
	if first := Message(t.Context(), r); Message(t.Context(), r) == first {
		t.Error("a message is shared without Share")
	}
}
