package e2e

import (
	"fmt"
	"net/url"
	"testing"

	"adshard/internal/goldentest"
)

// TestGolden queries clusters of 1, 3 and 7 slaves, filled through the feed and again from stores built offline. It
// compares ads, prices, matched and candidates; without exact counts only ads and prices.
func TestGolden(t *testing.T) {
	db := importEditor(t, goldentest.Read(t, "editor.csv.gz"), 45003)
	devices := map[string][]want{
		"desktop": readWants(t, "want-desktop.jsonl"),
		"mobile":  readWants(t, "want-mobile.jsonl"),
	}
	for device, list := range devices {
		if len(list) != 1201 {
			t.Fatalf("%d answers for %s, want 1201", len(list), device)
		}
		for i := range list {
			list[i].Device, list[i].Variants, list[i].Slots = device, "folded", 4
		}
	}
	for _, slaves := range []int{1, 3, 7} {
		for _, offline := range []bool{false, true} {
			t.Run(fmt.Sprintf("slaves=%d/offline=%v", slaves, offline), func(t *testing.T) {
				if testing.Short() && (slaves != 3 || offline) {
					t.Skip("short: only 3 slaves, filled through the feed")
				}
				c := startCluster(t, db, slaves, offline, "default")
				for _, list := range devices {
					compare(t, c, list)
				}
				if slaves == 3 && !offline {
					compareCalls(t, c, devices["mobile"])
				}
			})
		}
	}
}

// TestGoldenEdges sends the queries of cases that ordinary data does not cover, under both profiles.
func TestGoldenEdges(t *testing.T) {
	wants := readWants(t, "edges/want.jsonl")
	if len(wants) != 265 {
		t.Fatalf("%d answers, want 265", len(wants))
	}
	db := importEditor(t, goldentest.Read(t, "edges/editor.csv"), 0)
	for _, profile := range []string{"default", "sklik"} {
		for _, slaves := range []int{1, 3} {
			for _, offline := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/slaves=%d/offline=%v", profile, slaves, offline), func(t *testing.T) {
					c := startCluster(t, db, slaves, offline, profile)
					var list []want
					for _, w := range wants {
						if w.Profile == profile {
							list = append(list, w)
						}
					}
					compare(t, c, list)
					compareCalls(t, c, list)
				})
			}
		}
	}
}

func compare(t *testing.T, c *cluster, wants []want) {
	t.Helper()
	bad := 0
	for i, w := range wants {
		for _, exact := range []bool{true, false} {
			if diff := difference(w, c.search(t, params(w, exact)), exact); diff != "" {
				t.Errorf("line %d %q %s exact=%v: %s", i+1, w.Query, w.Device, exact, diff)
				if bad++; bad > 20 {
					t.Fatal("too many differences")
				}
			}
		}
	}
}

// compareCalls does the same as compare, over gRPC.
func compareCalls(t *testing.T, c *cluster, wants []want) {
	t.Helper()
	for i, w := range wants {
		if diff := difference(w, c.call(t, w), true); diff != "" {
			t.Errorf("over gRPC, line %d %q %s: %s", i+1, w.Query, w.Device, diff)
		}
	}
}

func params(w want, exact bool) url.Values {
	v := url.Values{"q": {w.Query}, "device": {w.Device}, "variants": {w.Variants}, "slots": {fmt.Sprint(w.Slots)}}
	if exact {
		v.Set("counts", "exact")
	}
	return v
}
