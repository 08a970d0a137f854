package console

import (
	"bytes"
	"context"
	"encoding/json"
	"image/png"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"adshard/internal/node/access"
	"adshard/internal/node/httpapi/api"
)

// halves are two slices: the lower half of the ring with nine tenths of the load, and the upper.
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
			want = band{2, "b"} // a fifth of it
		}
		if b != want {
			t.Errorf("band %d: %+v, want %+v", i, b, want)
		}
	}
	// Slices within one band: it has all of their load, and the shard of the widest.
	ring = ringOf([]api.SliceInfo{
		{Lo: "0000000000000000", Hi: "00ffffffffffffff", Slave: "a", Share: 0.5}, {Lo: "0100000000000000", Hi: "03ffffffffffffff", Slave: "b", Share: 0.5},
	})
	if ring[0] != (band{9, "b"}) || ring[2].heat != 0 {
		t.Errorf("%+v", ring[:3])
	}
	for share, want := range map[float64]int{0: 0, 1.0 / bands: 4, 2.0 / bands: 5, 1e-9: 1, 1: 9} {
		if got := heat(share, 1.0/bands); got != want {
			t.Errorf("heat of %g: %d, want %d", share, got, want)
		}
	}
}

// TestHistoryIsADay: a moment every five minutes, those of a day, none of it older; who asks is a
// reader; and what the port does not know yet is asked again soon.
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
				status := &api.BalanceStatus{MaxOverMean: 1.8, LowerBound: 1.1, Shadows: []api.Prediction{{Strategy: "random", MaxOverMean: 1.5}, {Strategy: "x", Failed: "no"}}}
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
		if m := list[columns-1]; m.max != 1.8 || m.bound != 1.1 || len(m.shadows) != 1 || m.shadows["random"] != 1.5 {
			t.Errorf("%+v", m)
		}
		cancel()
		<-done
		if asked["/v1/balance/slices"] > 30*12+2 {
			t.Errorf("asked %v", asked)
		}
	})
}

// TestHistoryOfAPortWithoutABalancer ends by itself.
func TestHistoryOfAPortWithoutABalancer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		new(History).Run(t.Context(), http.NotFoundHandler())
	})
}

func TestPictures(t *testing.T) {
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	h := new(History)
	if newChart(h.moments(), now) != nil {
		t.Error("a chart of nothing")
	}
	for _, ago := range []time.Duration{2 * every, every, 0} {
		h.record(now.Add(-ago), &api.BalanceStatus{MaxOverMean: 3, LowerBound: 1}, halves())
	}
	c := newChart(h.moments(), now)
	if len(c.Lines) != 2 || c.Top != 3 || c.Lines[0].Points != "993.1,0.0 996.5,0.0 1000.0,0.0" || c.Lines[1].Points != "993.1,200.0 996.5,200.0 1000.0,200.0" {
		t.Errorf("%+v", c)
	}
	for _, byShard := range []bool{false, true} {
		text, err := drawHeat(h.moments(), now, byShard)
		if err != nil {
			t.Fatal(err)
		}
		picture, err := png.Decode(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		_, _, _, before := picture.At(columns-4, 0).RGBA()
		if picture.Bounds().Dx() != columns || before != 0 || picture.At(columns-1, 0) == picture.At(columns-1, bands-1) || picture.At(columns-1, 0) != picture.At(columns-3, 0) {
			t.Errorf("by shard %v: %v, before %v", byShard, picture.Bounds(), before)
		}
	}
}
