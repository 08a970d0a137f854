package bench

import "testing"

// TestFreshness: both with the feed and with creators, all changes are shown, and no
// answer lacks an ad.
func TestFreshness(t *testing.T) {
	if testing.Short() {
		t.Skip("short: clusters of processes")
	}
	r, err := do(t, FreshnessCommand(), "--adshard", program(t), "--keywords", "1000", "--data", "extract", "--creators",
		"--slaves", "2", "--rates", "50", "--duration", "1s", "--groups", "20", "--asked", "4", "--campaigns", "1")
	if err != nil {
		t.Fatal(err)
	}
	for _, way := range []string{"feed", "creators"} {
		for name, good := range map[string]func(float64) bool{
			"changes":                      func(v float64) bool { return v == 50 },
			"age when first shown, median": func(v float64) bool { return v > 0 },
			"age when first shown, max":    func(v float64) bool { return v > 0 },
			"a campaign is new after":      func(v float64) bool { return v > 0 },
			"answers without an ad":        func(v float64) bool { return v == 0 },
		} {
			if f, ok := r.Find(way + ", 50 a second: " + name); !ok || !good(f.Value) {
				t.Errorf("%s: %s is %v", way, name, f.Value)
			}
		}
	}
	if f, ok := r.Find("creators: iterations"); !ok || f.Value < 2 {
		t.Errorf("%v iterations", f.Value)
	}
}
