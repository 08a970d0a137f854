package wire

import (
	"testing"

	"pgregory.net/rapid"

	"adshard/fault"
	"adshard/schema/pb"
	"adshard/search"
	"adshard/targeting"
)

// drawPage draws a page with filters; often none.
func drawPage(t *rapid.T) *search.Page {
	if rapid.Bool().Draw(t, "no page") {
		return nil
	}
	p := &search.Page{PerAdvertiser: rapid.IntRange(1, MaxSlots).Draw(t, "per advertiser")}
	texts := rapid.SliceOfN(rapid.StringMatching(`[a-z]{1,8}`), 0, 3)
	for range rapid.IntRange(1, search.MaxPlacements).Draw(t, "filters") {
		f := search.Filter{Reserve: rapid.Uint64().Draw(t, "reserve")}
		if b := targeting.NewBlocks(rapid.SliceOfN(rapid.Uint64(), 0, 3).Draw(t, "advertisers"), texts.Draw(t, "domains"), texts.Draw(t, "categories"),
			rapid.Bool().Draw(t, "uncategorised")); b != nil {
			f.Blocks = []*targeting.Blocks{b}
		}
		for _, name := range texts.Draw(t, "lists") {
			f.Lists = append(f.Lists, targeting.ListVersion{Name: name, Version: rapid.Uint64().Draw(t, "version")})
		}
		p.Filters = append(p.Filters, f)
	}
	return p
}

func TestHostilePages(t *testing.T) {
	one := []*pb.PageFilter{{}}
	for name, m := range map[string]*pb.Page{
		"no filter":     {PerAdvertiser: 1},
		"many filters":  {PerAdvertiser: 1, Filters: make([]*pb.PageFilter, search.MaxPlacements+1)},
		"no places":     {Filters: one},
		"too many each": {PerAdvertiser: MaxSlots + 1, Filters: one},
	} {
		if _, err := toPage(m); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v, want Invalid", name, err)
		}
	}
}
