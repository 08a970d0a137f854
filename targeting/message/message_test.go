package message

import (
	"reflect"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"adshard/schema/pb"
	"adshard/targeting"
)

func TestRoundTrip(t *testing.T) {
	if m := From(&targeting.Targeting{}); m != nil {
		t.Errorf("no targeting is %v", m)
	}
	site := func(host string, permille uint16) targeting.Site {
		return targeting.Site{Page: targeting.Page{Host: host, Path: "/x"}, Modifier: permille}
	}
	want := &targeting.Targeting{
		Start: 20260102, End: 20261231, Targets: targeting.Presence, Exclusion: targeting.Presence,
		Schedule: targeting.Schedule{{Day: time.Sunday, From: 1, To: 96, Modifier: 1500}, {Day: time.Monday, To: 4, Modifier: 1000}},
		Locations: targeting.Locations{
			{Place: 2203, Modifier: 100}, {Place: 2840, Exclude: true, Modifier: 1000},
			{Circle: targeting.Circle{Point: targeting.Point{Lat: -50_087_000, Lon: 14_421_000}, Radius: 15_000}, Modifier: 1000},
		},
		Audiences: targeting.Audiences{
			Target: []targeting.Segment{{ID: "a", Modifier: 1300}}, Observe: []targeting.Segment{{ID: "b", Modifier: 1000}},
			Exclude: []targeting.Segment{{ID: "c", Modifier: 1000}},
		},
		Sites:      targeting.Sites{Include: []targeting.Site{site("a.example", 1100)}, Exclude: []targeting.Site{site("b.example", 1000)}},
		Categories: targeting.Categories{"alcohol/wine"},
	}
	b, err := proto.Marshal(From(want))
	if err != nil {
		t.Fatal(err)
	}
	m := new(pb.Targeting)
	if err := proto.Unmarshal(b, m); err != nil {
		t.Fatal(err)
	}
	if got := To(m); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
