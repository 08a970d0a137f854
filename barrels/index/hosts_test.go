package index

import (
	"testing"

	"adshard/search/display"
)

// TestHostSets: distinct sets have distinct numbers, also where a host has the name of what is no host.
func TestHostSets(t *testing.T) {
	h, seen := NewHostSets(), map[uint32]string{}
	for name, urls := range map[string][]string{
		"one": {"https://a.example/x"}, "another host": {"https://a.example/", "https://refused/"}, "a bad URL": {"https://a.example/", "nonsense"},
		"a third": {"https://a.example", "https://open/"}, "no URL": {"https://a.example", ""}, "both": {"https://a.example", "", "nonsense"},
		"only a bad one": {"nonsense"}, "only none": {""},
	} {
		var g Group
		for _, url := range urls {
			g.Ads = append(g.Ads, display.Ad{FinalURL: url})
		}
		n := h.Number(&g)
		if was := seen[n]; was != "" || n < hostsFirst {
			t.Errorf("%s has the number %d of %q", name, n, was)
		}
		if seen[n] = name; h.Number(&g) != n {
			t.Errorf("%s has two numbers", name)
		}
	}
}
