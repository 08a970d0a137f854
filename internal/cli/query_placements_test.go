package cli

import (
	"strings"
	"testing"

	"adshard/search"
)

// TestQueryPlacements: flags describe a page, and the answer for each placement is printed.
func TestQueryPlacements(t *testing.T) {
	c := newCluster()
	for i := range c.answer.Hits {
		c.answer.Hits[i].Filters = 3
	}
	c.answer.Filtered = []uint64{5, 9}
	url := started(t, c)
	status, out, errOut := run(t, "adshard", "query", "--addr", url, "--placement", "top:1:0.05", "--placement", "side:2", "--placement", "low:1:0", "--per-advertiser", "3",
		"--location", "2203", "--point", "50,14", "--block-uncategorised", "--device", "mobile", "usb", "kabel")
	if status != exitDone || errOut != "" {
		t.Fatalf("%d %q %q", status, out, errOut)
	}
	r := c.asked
	if r.Page == nil || len(r.Page.Filters) != 2 || r.Page.Filters[0].Reserve != 50_000 || r.Page.Filters[1].Reserve != 10_000 || r.Page.PerAdvertiser != 3 ||
		r.Slots != 4 || r.Device != search.Mobile || len(r.Context.Places) != 1 || r.Context.Point == nil || !r.Context.Blocks[0].Uncategorised {
		t.Errorf("asked %+v", r)
	}
	for _, part := range []string{"top: 5 take part\n", "side: 9 take part\n", "low: 9 take part\nno ads\n", "46 keywords match, 31 take part; 3 of 3 shards"} {
		if part = strings.Replace(part, "46 keywords match, 31", "at least 46 keywords match, at least 31", 1); !strings.Contains(out, part) {
			t.Errorf("%q is not in\n%s", part, out)
		}
	}
	status, out, _ = run(t, "adshard", "query", "--addr", url, "--placement", "top:1", "--placement", "top:1", "usb")
	if status != exitDone || !strings.Contains(out, "top: not filled: ") {
		t.Errorf("%d %s", status, out)
	}
	for _, wrong := range [][]string{
		{"--placement", ""}, {"--placement", ":3"}, {"--placement", "top:x"}, {"--placement", "top:0"}, {"--placement", "top:1:x"}, {"--placement", "top:1:0.0000001"},
		{"--placement", "a:1:1:1"}, {"--placement", "top:x", "--explain"},
	} {
		if status, _, errOut := run(t, "adshard", append(append([]string{"query", "--addr", url}, wrong...), "usb")...); status != exitUsage {
			t.Errorf("%q: %d %s", wrong, status, errOut)
		}
	}
}

// TestQueryExplainedPlacements: each placement is explained, in order, and an invalid one is named.
func TestQueryExplainedPlacements(t *testing.T) {
	url := started(t, newCluster())
	status, out, errOut := run(t, "adshard", "query", "--addr", url, "--explain", "--placement", "top:1", "--placement", "side:2", "usb", "kabel")
	top, side := strings.Index(out, "top: "), strings.Index(out, "side: ")
	if status != exitDone || top < 0 || side < top || !strings.Contains(out[top:side], "; 1 places") || !strings.Contains(out[side:], "; 2 places") {
		t.Errorf("%d %s%s", status, out, errOut)
	}
	status, out, errOut = run(t, "adshard", "query", "--addr", url, "--explain", "--placement", "top", "--placement", "side:21", "usb")
	if status == exitDone || !strings.Contains(errOut, "slots") {
		t.Errorf("%d %s%s", status, out, errOut)
	}
}
