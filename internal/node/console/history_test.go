package console

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"adshard/internal/node/access"
	"adshard/internal/node/httpapi/api"
)

// halves returns two slices: the lower half of the ring, with nine tenths of the load, and the
// upper half.
func halves() *api.SliceList {
	return &api.SliceList{Slices: []api.SliceInfo{
		{Slice: 1, Lo: "0000000000000000", Hi: "7fffffffffffffff", Slave: "a", Share: 0.9},
		{Slice: 2, Lo: "8000000000000000", Hi: "ffffffffffffffff", Slave: "b", Share: 0.1},
	}}
}

func TestRingOf(t *testing.T) {
	ring := ringOf(halves().Slices)
	for i, b := range ring {
		want := band{5, "a"} // 1.8 times the mean
		if i >= bands/2 {
			want = band{2, "b"} // a fifth of the mean
		}
		if b != want {
			t.Errorf("band %d: %+v, want %+v", i, b, want)
		}
	}
	// Several slices within one band: it has all of their load, and the shard of the widest slice.
	ring = ringOf([]api.SliceInfo{
		{Lo: "0000000000000000", Hi: "00ffffffffffffff", Slave: "a", Share: 0.5}, {Lo: "0100000000000000", Hi: "03ffffffffffffff", Slave: "b", Share: 0.5},
	})
	if ring[0] != (band{9, "b"}) || ring[2].heat != 0 {
		t.Errorf("%+v", ring[:3])
	}
	// A single hot group is cut out of the upper half: its band has its load, but the shard of the
	// other slices.
	ring = ringOf([]api.SliceInfo{
		{Lo: "8000000000000001", Hi: "8000000000000001", Slave: "c", Share: 0.5}, {Lo: "0000000000000000", Hi: "8000000000000000", Slave: "a", Share: 0.25},
		{Lo: "8000000000000002", Hi: "ffffffffffffffff", Slave: "b", Share: 0.25},
	})
	if ring[bands/2] != (band{9, "b"}) || ring[bands/2+1] != (band{3, "b"}) || ring[bands/2-1] != (band{3, "a"}) {
		t.Errorf("%+v", ring[bands/2-1:bands/2+2])
	}
	for share, want := range map[float64]int{0: 0, 1.0 / bands: 4, 2.0 / bands: 5, 1e-9: 1, 1: 9} {
		if got := heat(share, 1.0/bands); got != want {
			t.Errorf("heat of %g: %d, want %d", share, got, want)
		}
	}
}

// cuts returns where random slices begin. Some are one key apart, and some are at the edges of a
// band.
func cuts(t *rapid.T) []uint64 {
	at := map[uint64]bool{0: true}
	for range rapid.IntRange(0, 40).Draw(t, "cuts") {
		k := rapid.Uint64().Draw(t, "key")
		if rapid.Bool().Draw(t, "edge") {
			k &^= bandKeys - 1
		}
		at[k], at[k+rapid.Uint64Range(0, 3).Draw(t, "wide")] = true, true
	}
	return slices.Sorted(maps.Keys(at))
}

// TestLoadIsKept: whatever the slices are, the bands contain all of their load. Each slice is
// drawn, and has the colour of its load if it has any.
func TestLoadIsKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var list []api.SliceInfo
		var want, got float64
		for i, from := range cuts(t) {
			if i > 0 {
				list[i-1].Hi = fmt.Sprintf("%016x", from-1)
			}
			list = append(list, api.SliceInfo{Lo: fmt.Sprintf("%016x", from), Hi: "ffffffffffffffff", Slave: "a", Share: rapid.Float64Range(1e-9, 1).Draw(t, "share")})
			want += list[i].Share
		}
		share, _ := divide(list)
		for _, s := range share {
			got += s
		}
		if math.Abs(got-want) > 1e-9*want {
			t.Fatalf("the bands have a load of %g, the slices %g", got, want)
		}
		for _, a := range ring(list, nil) {
			if a.Heat < 1 || a.Width < 1 || a.X < 0 || a.X+a.Width > ringWidth*(1+1e-9) {
				t.Fatalf("drawn as %+v", a)
			}
		}
	})
}

// TestHotGroupsAreDrawn: a slice of a single key is drawn one pixel wide, in the colour of its
// load, on top of its neighbours.
func TestHotGroupsAreDrawn(t *testing.T) {
	arcs := ring([]api.SliceInfo{
		{Slice: 1, Lo: "0000000000000000", Hi: "7fffffffffffffff", Share: 0.4},
		{Slice: 2, Lo: "8000000000000000", Hi: "8000000000000000", Share: 0.2},
		{Slice: 3, Lo: "8000000000000001", Hi: "8000000000000001", Share: 0},
		{Slice: 4, Lo: "8000000000000002", Hi: "80000000000003ff", Share: 0.001},
		{Slice: 5, Lo: "8000000000000400", Hi: "ffffffffffffffff", Share: 0.399},
	}, nil)
	var got []string
	for _, a := range arcs {
		got = append(got, fmt.Sprintf("%d at %.0f, %.0f wide, heat %d", a.Slice, a.X, a.Width, a.Heat))
	}
	want := []string{"1 at 0, 500 wide, heat 4", "5 at 500, 500 wide, heat 4", "3 at 500, 1 wide, heat 0", "4 at 500, 1 wide, heat 4", "2 at 500, 1 wide, heat 9"}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}

// TestHistoryIsADay: a sample is taken every five minutes and kept for a day. Readers may read it,
// and a value that the port does not have yet is soon requested again.
func TestHistoryIsADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, began := new(History), time.Now()
		asked := map[string]int{}
		port := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked[r.URL.Path]++
			if who := access.CallerOf(r.Context()); who.Role != access.Reader {
				t.Errorf("%s asks", who)
			}
			var answer any = halves()
			if r.URL.Path == "/v1/balance" {
				status := new(api.BalanceStatus)
				if time.Since(began) > time.Minute {
					status.Slaves = []api.SlaveLoad{{Name: "a"}}
				}
				answer = status
			}
			_ = json.NewEncoder(w).Encode(answer)
		})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { h.Run(ctx, port); close(done) }()
		time.Sleep(2 * time.Minute)
		if got := len(h.moments()); got != 1 {
			t.Errorf("%d moments after the plan", got)
		}
		time.Sleep(30 * time.Hour)
		list := h.moments()
		if len(list) != columns || time.Since(list[0].at) > 24*time.Hour+every {
			t.Fatalf("%d moments since %v", len(list), time.Since(list[0].at))
		}
		if m := list[columns-1]; m.ring != ringOf(halves().Slices) {
			t.Errorf("%+v", m)
		}
		cancel()
		<-done
		if asked["/v1/balance/slices"] > 30*12+2 {
			t.Errorf("asked %v", asked)
		}
	})
}

// TestHistoryOfAPortWithoutABalancer: without a balancer, Run returns at once.
func TestHistoryOfAPortWithoutABalancer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		new(History).Run(t.Context(), http.NotFoundHandler())
	})
}

func TestPictures(t *testing.T) {
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	h := new(History)
	for _, ago := range []time.Duration{2 * every, every, 0} {
		h.record(now.Add(-ago), halves())
	}
	for _, p := range []picture{{heatColours(), heatOf}, {shardColours(), shardIn(h.colours(nil))}} {
		drawn := paint(t, p, h.moments(), now)
		_, _, _, before := drawn.At(columns-4, 0).RGBA()
		if drawn.Bounds().Dx() != columns || before != 0 || drawn.At(columns-1, 0) == drawn.At(columns-1, bands-1) || drawn.At(columns-1, 0) != drawn.At(columns-3, 0) {
			t.Errorf("%v, before %v", drawn.Bounds(), before)
		}
	}
}

// paint draws a picture and decodes it.
func paint(t *testing.T, p picture, list []moment, now time.Time) image.Image {
	t.Helper()
	text, err := p.png(list, now)
	if err != nil {
		t.Fatal(err)
	}
	drawn, err := png.Decode(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return drawn
}

// TestColoursOfShards: a shard has the same colour as in the legend in each picture, also after
// another shard is added before it or removed.
func TestColoursOfShards(t *testing.T) {
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	memory := new(Memory)
	later := halves()
	later.Slices[0].Slave, later.Slices[1].Slave = "0", "b"
	memory.History.record(now.Add(-every), halves())
	memory.History.record(now, later)
	port := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(later) })
	page, err := (&Console{cfg: Config{API: port, Memory: memory}}).lookAtSlices(httptest.NewRequestWithContext(t.Context(), "GET", "/console/slices", http.NoBody))
	if err != nil {
		t.Fatal(err)
	}
	legend := map[string]int{}
	for _, s := range page.Legend {
		legend[s.Shard] = s.Colour
	}
	drawn := paint(t, picture{shardColours(), shardIn(memory.History.colours(nil))}, memory.History.moments(), now)
	for name, at := range map[string]color.Color{"0": drawn.At(columns-1, 0), "b": drawn.At(columns-1, bands-1)} {
		if want := shardColours()[1+legend[name]]; at != want {
			t.Errorf("shard %s is %v in the picture, %v in the legend", name, at, want)
		}
	}
	if drawn.At(columns-1, bands-1) != drawn.At(columns-2, bands-1) {
		t.Error("shard b has changed its colour")
	}
	for _, a := range page.Ring {
		if a.Colour != legend[a.Slave] {
			t.Errorf("slice %d of %s has colour %d on the ring, %d in the legend", a.Slice, a.Slave, a.Colour, legend[a.Slave])
		}
	}
}
