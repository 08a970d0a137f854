package wire

import (
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"adshard/fault"
	"adshard/places"
	"adshard/schema/pb"
	"adshard/search"
	"adshard/targeting"
)

// drawContext draws what the wire carries of a context; nil at times.
func drawContext(t *rapid.T) *targeting.Context {
	if rapid.Bool().Draw(t, "no context") {
		return nil
	}
	some := func(name string) bool { return rapid.Bool().Draw(t, name) }
	c := &targeting.Context{Time: time.Unix(rapid.Int64Range(0, targeting.EndOfTime-1).Draw(t, "time"), 0).UTC(), UnknownLocation: some("include")}
	for range rapid.IntRange(0, 3).Draw(t, "places") {
		c.Places = append(c.Places, targeting.Place{ID: rapid.Uint32().Draw(t, "place"), Presence: some("presence"), Interest: some("interest"), Depth: 3})
	}
	texts := rapid.SliceOfN(rapid.StringMatching(`[a-z]{1,8}`), 0, 3)
	c.Languages = append(c.Languages, texts.Draw(t, "languages")...)
	c.Audiences = append(c.Audiences, texts.Draw(t, "audiences")...)
	if some("point") {
		c.Point = &targeting.Point{Lat: -50_000_000, Lon: rapid.Int32().Draw(t, "lon")}
	}
	if some("site") {
		c.Site = &targeting.Page{Host: "a.example", Path: "/x"}
	}
	advertisers := rapid.SliceOfN(rapid.Uint64(), 0, 3).Draw(t, "advertisers")
	if b := targeting.NewBlocks(advertisers, texts.Draw(t, "domains"), texts.Draw(t, "categories"), some("uncategorised")); b != nil {
		c.Blocks = []*targeting.Blocks{b}
	}
	for _, name := range texts.Draw(t, "lists") {
		c.Lists = append(c.Lists, targeting.ListVersion{Name: name, Version: rapid.Uint64().Draw(t, "version")})
	}
	return c
}

// drawOutcome draws what a context means for a keyword; nil at times.
func drawOutcome(t *rapid.T) *targeting.Outcome {
	if rapid.Bool().Draw(t, "no outcome") {
		return nil
	}
	o := &targeting.Outcome{
		Verdict: targeting.Verdict(rapid.IntRange(0, int(targeting.Blocked)).Draw(t, "of context")),
		Factors: targeting.Factors{Schedule: 1000, Location: 1500, Audience: 100, Site: 10_000},
	}
	o.Criterion = targeting.Criterion{Text: rapid.String().Draw(t, "criterion"), OfGroup: rapid.Bool().Draw(t, "of group"),
		OfPlacement: rapid.Bool().Draw(t, "of placement"), OfList: rapid.Bool().Draw(t, "of list")}
	o.By[1] = targeting.Criterion{Text: rapid.String().Draw(t, "by")}
	return o
}

func TestHostileContexts(t *testing.T) {
	for name, m := range map[string]*pb.Context{
		"before 1970": {Seconds: -1},
		"after 2100":  {Seconds: targeting.EndOfTime},
		"places":      {Places: make([]*pb.ContextPlace, maxPlaces+1)},
	} {
		if _, err := toContext(m); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v, want Invalid", name, err)
		}
	}
	r := &search.Request{Query: &search.Query{}, Slots: 1, Context: &targeting.Context{Time: time.Unix(1, 0).UTC()}}
	b := AppendRequest(nil, r)
	if _, err := ParseRequest(append(b, AppendRequest(nil, &search.Request{Slots: 1, Context: r.Context})...)); !fault.Is(err, fault.Invalid) {
		t.Errorf("two contexts: %v, want Invalid", err)
	}
	for range targeting.MaxAudiences + 1 {
		r.Context.Audiences = append(r.Context.Audiences, "a")
	}
	if _, err := ParseRequest(AppendRequest(nil, r)); !fault.Is(err, fault.Invalid) {
		t.Errorf("too many audiences: %v, want Invalid", err)
	}
}

// TestPlacesFit: a request with as many places as may be named, each as deep as places may lie, is within the bound of slaves.
func TestPlacesFit(t *testing.T) {
	if most := 2 * targeting.MaxPlaces * places.MaxDepth; most > maxPlaces {
		t.Errorf("a request may have %d places, and slaves take %d", most, maxPlaces)
	}
}

// TestBlocksOfPlacements: slaves know which blocks of an explained placement are its own. Programs that do not know the field take
// all of them for the request's.
func TestBlocksOfPlacements(t *testing.T) {
	own, request := targeting.NewBlocks([]uint64{1}, []string{"a.example"}, nil, false), targeting.NewBlocks([]uint64{2}, nil, []string{"toys"}, true)
	own.OfPlacement = true
	c := &targeting.Context{Time: time.Unix(1, 0).UTC(), Blocks: []*targeting.Blocks{own, request}, Lists: []targeting.ListVersion{{Name: "kids", Version: 3, OfPlacement: true}}}
	m := overWire(t, fromContext(c), &pb.Context{})
	got, err := toContext(m)
	all := targeting.NewBlocks([]uint64{1, 2}, []string{"a.example"}, []string{"toys"}, true)
	if want := []*targeting.Blocks{own, all}; err != nil || !reflect.DeepEqual(got.Blocks, want) || !reflect.DeepEqual(got.Lists, c.Lists) {
		t.Errorf("%+v, %v", got, err)
	}
	m.Placement = nil
	if got, err = toContext(m); err != nil || !reflect.DeepEqual(got.Blocks, []*targeting.Blocks{all}) {
		t.Errorf("without the placement: %+v, %v", got, err)
	}
}
