package compare

import "testing"

// TestHeadlines: of two seeds, the worst is no better than the mean, and no strategy that does
// not split slices places them better than any placement can.
func TestHeadlines(t *testing.T) {
	list, err := Headlines(t.Context(), 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	splits := map[string]bool{"cassandra": true, "srinivasan": true}
	seen := map[string]int{}
	const optimum, plain = "optimum over slices ÷ max/mean", "max/mean of consistent-random ÷ its own"
	for _, h := range list {
		seen[h.Figure]++
		worse := h.Worst - h.Ours
		if h.Figure == optimum || h.Figure == plain { // more is better
			worse = -worse
		}
		switch {
		case h.Figure == "max/mean of keys" && (h.Ours < 1-1e-9 || h.Technique == "consistent-fixed" && h.Ours > 1.0001),
			h.Figure == "part of all that moves" && (h.Ours < 0.05 || h.Ours > 0.15),
			h.Figure == optimum && (h.Worst <= 0 || !splits[h.Technique] && h.Ours > 1+1e-9),
			worse < 0:
			t.Errorf("%+v", h)
		}
	}
	if len(list) != 53 || len(seen) != 7 {
		t.Errorf("%d headlines of %v", len(list), seen)
	}
}
