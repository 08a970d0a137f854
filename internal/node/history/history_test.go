package history

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"adshard/fault"
	"adshard/internal/node/traffic"
)

var noon = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

// TestADay: a point is the mean of an interval's minutes and the highest of their percentiles. A day of points is kept,
// however long samples are added.
func TestADay(t *testing.T) {
	d := new(Day)
	minutes := []traffic.Rates{
		{Over: time.Minute, PerSecond: 100, Incomplete: 0.5, P50: 2, P99: 7},
		{}, // no master has reported
		{Over: time.Minute, PerSecond: 300, Refused: 0.1, Failed: 0.2, P50: 1, P99: 9},
	}
	for i, r := range minutes {
		if first := d.Add(noon.Add(time.Duration(i)*time.Minute), Sample{Traffic: r, MaxOverMean: float64(i + 1), Bound: 1, Shadows: map[string]float64{"random": float64(i + 2)}}); first != (i == 0) {
			t.Errorf("sample %d begins an interval: %v", i, first)
		}
	}
	d.Add(noon.Add(5*time.Hour), Sample{MaxOverMean: 9}) // the clock is ahead for a moment
	d.Add(noon.Add(3*time.Minute), Sample{})
	list := d.List(noon.Add(3 * time.Minute))
	want := traffic.Rates{Over: 2 * time.Minute, PerSecond: 200, Incomplete: 0.125, Refused: 0.075, Failed: 0.15, P50: 2, P99: 9}
	if len(list) != 1 || list[0].At != noon || !near(list[0].Traffic, want) || list[0].MaxOverMean != 3 || list[0].Bound != 1 || list[0].Shadows["random"] != 4 {
		t.Fatalf("%+v", list)
	}
	for i := range 3000 {
		d.Add(noon.Add(time.Duration(i)*time.Minute), Sample{MaxOverMean: 1})
	}
	now := noon.Add(3000 * time.Minute)
	if list = d.List(now); len(list) != Points-1 && len(list) != Points || now.Sub(list[0].At) > 24*time.Hour {
		t.Errorf("%d points since %v", len(list), list[0].At)
	}
	if list = d.List(now.Add(25 * time.Hour)); len(list) != 0 {
		t.Errorf("%d points of the day before", len(list))
	}
}

func near(a, b traffic.Rates) bool {
	for _, v := range [][2]float64{{a.PerSecond, b.PerSecond}, {a.Incomplete, b.Incomplete}, {a.Refused, b.Refused}, {a.Failed, b.Failed}} {
		if math.Abs(v[0]-v[1]) > 1e-3*max(1, v[1]) {
			return false
		}
	}
	return a.Over == b.Over && a.P50 == b.P50 && a.P99 == b.P99
}

// TestSavedDay: what is saved is read again, to a thousandth, with its gaps. It is never larger than MaxBytes.
func TestSavedDay(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := new(Day)
		at := noon
		for range rapid.IntRange(0, 400).Draw(rt, "samples") {
			at = at.Add(time.Duration(rapid.IntRange(1, 15).Draw(rt, "minutes")) * time.Minute)
			s := Sample{MaxOverMean: rapid.SampledFrom([]float64{0, 1, 1.23456789, 1e8}).Draw(rt, "max"), Bound: 1.0987654321}
			if s.MaxOverMean > 0 {
				s.Shadows = map[string]float64{"random": 1.5, "original": rapid.Float64Range(1, 1e9).Draw(rt, "original")}
			}
			if rapid.Bool().Draw(rt, "told") {
				s.Traffic = traffic.Rates{Over: time.Minute, PerSecond: rapid.Float64Range(0, 1e9).Draw(rt, "rate"), Refused: 0.123456789, P50: 910 * time.Microsecond, P99: time.Second}
			}
			d.Add(at, s)
		}
		text := d.Encode()
		if len(text) > MaxBytes {
			rt.Fatalf("%d bytes", len(text))
		}
		again := new(Day)
		if err := again.Decode(text, at); err != nil {
			rt.Fatal(err)
		}
		was, is := d.List(at), again.List(at)
		if len(was) != len(is) {
			rt.Fatalf("%d points were saved, %d are read", len(was), len(is))
		}
		for i := range was {
			a, b := &was[i], &is[i]
			if !a.At.Equal(b.At) || !near(a.Traffic, b.Traffic) || math.Abs(a.MaxOverMean-b.MaxOverMean) > 1e-3*a.MaxOverMean || len(a.Shadows) != len(b.Shadows) {
				rt.Fatalf("%+v is read as %+v", a, b)
			}
		}
	})
}

// TestLargestDay: figures beyond all bounds, and more strategies than there are, do not make a saved day larger than MaxBytes.
func TestLargestDay(t *testing.T) {
	d := new(Day)
	s := Sample{MaxOverMean: 1.2345678e300, Bound: math.MaxFloat64, Shadows: map[string]float64{}}
	s.Traffic = traffic.Rates{Over: time.Minute, PerSecond: math.MaxFloat64, Incomplete: 1.0 / 3, Refused: 1.0 / 3, Failed: 1.0 / 3, P50: math.MaxInt64, P99: math.MaxInt64}
	for i := range 100 {
		s.Shadows[fmt.Sprint("weighted-move-", i)] = math.Inf(1)
		s.Shadows[fmt.Sprint("a strategy ", i)] = math.MaxFloat64 / 3
	}
	for i := range 2 * Points {
		d.Add(noon.Add(time.Duration(i)*Interval), s)
	}
	text := d.Encode()
	if len(text) > MaxBytes || len(text) < 10_000 {
		t.Errorf("%d bytes", len(text))
	}
	if err := new(Day).Decode(text, noon.Add(2*time.Duration(Points)*Interval)); err != nil {
		t.Error(err)
	}
}

// TestDamagedDay: what cannot be a saved day is refused, and points out of order or of another day are left out.
func TestDamagedDay(t *testing.T) {
	row := func(at time.Time, more ...float64) string {
		return fmt.Sprintf("[%d,1,2,0,0,0,1,1,1.5,1.2%s]", at.Unix(), func() (s string) {
			for _, v := range more {
				s += fmt.Sprint(",", v)
			}
			return s
		}())
	}
	for _, text := range []string{"{", `{"points":[[]]}`, `{"points":[[1,2]]}`, `{"shadows":["x"],"points":[` + row(noon) + `]}`, `{"points":[` + row(noon, 1) + `]}`,
		`{"shadows":["x"],"points":[` + row(noon, -1) + `]}`} {
		d := new(Day)
		d.Add(noon, Sample{})
		if err := d.Decode([]byte(text), noon); !fault.Is(err, fault.Corrupt) || len(d.List(noon)) != 0 {
			t.Errorf("%s: %v, %+v", text, err, d.List(noon))
		}
	}
	d := new(Day)
	text := `{"points":[` + row(noon.Add(-25*time.Hour)) + "," + row(noon.Add(-time.Hour)) + "," + row(noon.Add(-2*time.Hour)) + "," + row(noon) + "," + row(noon.Add(time.Hour)) + "]}"
	if err := d.Decode([]byte(text), noon); err != nil {
		t.Fatal(err)
	}
	var got []time.Duration
	for _, p := range d.List(noon) {
		got = append(got, noon.Sub(p.At))
	}
	if !slices.Equal(got, []time.Duration{time.Hour, 0}) {
		t.Errorf("points of %v ago", got)
	}
	if err := d.Decode(nil, noon); err != nil || len(d.List(noon)) != 0 {
		t.Errorf("nothing was saved: %v", err)
	}
}
