package record

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"adshard/schema/pb"
	"adshard/search/display"
)

// TestAds: a group has its enabled ads as they were written, and damage shows when the group is read, not when its ads are.
func TestAds(t *testing.T) {
	texts := rapid.SliceOfN(rapid.StringN(0, 30, 100), 0, 4)
	rapid.Check(t, func(t *rapid.T) {
		stored := new(pb.Group)
		var want []display.Ad
		filled := false
		for i := range rapid.IntRange(0, 4).Draw(t, "ads") {
			ad := &pb.Ad{
				Id: uint64(i + 1), Enabled: rapid.Bool().Draw(t, "enabled"), Headlines: texts.Draw(t, "headlines"), Descriptions: texts.Draw(t, "descriptions"),
				Path1: rapid.StringN(0, 5, 15).Draw(t, "path"), FinalUrl: rapid.SampledFrom([]string{"", "https://a.example/{keyword}"}).Draw(t, "URL"),
			}
			if rapid.IntRange(0, 3).Draw(t, "placeholder") == 0 {
				ad.Headlines = append(ad.Headlines, "Buy {KeyWord:shoes}")
			}
			if stored.Ads = append(stored.Ads, ad); !ad.Enabled {
				continue
			}
			shown := display.Ad{ID: ad.Id, Path1: ad.Path1, FinalURL: ad.FinalUrl}
			shown.Headlines, shown.Descriptions = append(shown.Headlines, ad.Headlines...), append(shown.Descriptions, ad.Descriptions...)
			filled = filled || shown.HasPlaceholders()
			want = append(want, shown)
		}
		value, err := Marshal.Marshal(stored)
		if err != nil {
			t.Fatal(err)
		}
		g, err := ReadGroup(value)
		if err != nil {
			t.Fatal(err)
		}
		if got := g.Ads.Read(); !reflect.DeepEqual(got, want) || g.Ads.None() != (len(want) == 0) || g.Filled != filled {
			t.Fatalf("ads %+v, filled %v; want %+v, %v", got, g.Filled, want, filled)
		}
		if len(value) > 0 {
			value[rapid.IntRange(0, len(value)-1).Draw(t, "damaged byte")] ^= byte(rapid.IntRange(1, 255).Draw(t, "by"))
			if g, err := ReadGroup(value); err == nil {
				g.Ads.Read()
			}
		}
	})
}
