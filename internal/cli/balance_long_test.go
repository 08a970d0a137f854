package cli

import (
	"fmt"
	"strings"
	"testing"

	"adshard/internal/node/admin/admintest"
	"adshard/internal/node/httpapi/api"
)

// TestLongListsAreCut: people get the first entries and the number of the others, programs get all entries.
func TestLongListsAreCut(t *testing.T) {
	control := func(n int) *admintest.Control {
		c := admintest.NewControl()
		c.Status.MovesInFlight, c.Status.Masters, c.Status.Last.Reasons = nil, nil, nil
		for i := range n {
			c.Status.MovesInFlight = append(c.Status.MovesInFlight, api.SliceMove{Slice: uint64(1000 + i), Phase: api.MovePhaseCopying})
			c.Status.Masters = append(c.Status.Masters, api.MasterInfo{Name: fmt.Sprint("asks-", i)})
			c.Status.Last.Reasons = append(c.Status.Last.Reasons, fmt.Sprint("since-", i))
		}
		return c
	}
	for _, c := range []struct {
		n    int
		more string
	}{{15, ""}, {16, "1 more"}, {400, "385 more"}} {
		addr := serveControl(t, control(c.n))
		_, out, _ := run(t, "adshard", "balance", "status", "--addr", addr)
		if shown := strings.Count(out, "copying"); shown != min(c.n, 15) {
			t.Errorf("%d of %d moves are shown", shown, c.n)
		}
		for _, thing := range []string{"move", "master", "reason"} {
			if c.more != "" && !strings.Contains(out, "and "+c.more+" "+thing) || c.more == "" && strings.Contains(out, "more "+thing) {
				t.Errorf("%d %ss:\n%s", c.n, thing, out)
			}
		}
		_, out, _ = run(t, "adshard", "balance", "status", "--json", "--addr", addr)
		for _, last := range []string{fmt.Sprint(`"slice":`, 999+c.n), fmt.Sprint("asks-", c.n-1), fmt.Sprint("since-", c.n-1)} {
			if !strings.Contains(strings.ReplaceAll(out, `": `, `":`), last) {
				t.Errorf("no %s in --json", last)
			}
		}
	}
}
