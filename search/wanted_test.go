package search_test

import (
	"testing"

	"adshard/fault"
	"adshard/search"
)

func TestParseWanted(t *testing.T) {
	for text, want := range map[string]search.Wanted{
		"17": {Keyword: 17}, " 17 ": {Keyword: 17}, "advertiser:3": {Advertiser: 3}, "Shoes & Co": {AdvertiserName: "Shoes & Co"},
		"advertiser:x": {AdvertiserName: "advertiser:x"}, "-1": {AdvertiserName: "-1"},
	} {
		if got, err := search.ParseWanted("why_not", text); err != nil || got != want || !got.Any() {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", " ", "0", "advertiser:0"} {
		if got, err := search.ParseWanted("why_not", text); !fault.Is(err, fault.Invalid) || fault.FieldOf(err) != "why_not" || got.Any() {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
}
