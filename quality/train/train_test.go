package train_test

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"adshard/auction"
	"adshard/fault"
	"adshard/quality"
	"adshard/quality/countfile"
	"adshard/quality/train"
	"adshard/scorer"
	"adshard/search"
)

// truth is how users click in these tests: weights in units of files, and how often users look at positions 1 to 3.
var (
	truth = map[string]int64{"exact": 120, "broad": -150, "mobile": -200, "tablet": 90, "night": 160, "shop": 180}
	looks = []float64{1, 0.6, 0.3}
)

const rate = 0.004 // rate per point of quality

// trueFactor returns the true click rate relative to the one that quality predicts.
func trueFactor(f *auction.Features, at *auction.Situation) float64 {
	z := truth[search.MatchType(f.Match).String()] + truth[search.Device(at.Device).String()]
	if at.Hour >= 20 {
		z += truth["night"]
	}
	if strings.HasSuffix(at.Site, "shop.example") {
		z += truth["shop"]
	}
	return 2 / (1 + math.Exp(-float64(z)/256))
}

// keywordOf returns a keyword as the database has it.
func keywordOf(id uint64) train.Keyword {
	return train.Keyword{Group: 1 + id/10, Features: auction.Features{
		Match: uint8(id % 3), Words: uint8(1 + id/3%4), Quality: uint8(3 + id/7%5), Advertiser: 1 + id/50, Campaign: 1 + id/25,
	}}
}

// users draws the clicks of users from a seed, with the given number of impressions per count. Without effects, the clicks depend
// only on quality.
func users(seed uint64, keywords uint64, impressions int, effects bool) (rows []train.Row) {
	random := rand.New(rand.NewPCG(seed, 0))
	sites := []string{"shop.example", "a.shop.example", "news.example", ""}
	for id := uint64(1); id <= keywords; id++ {
		k := keywordOf(id)
		for n := range 36 {
			at := auction.Situation{Device: uint8(n % 3), Hour: uint8(random.IntN(24)), Words: uint8(1 + random.IntN(6)), Site: sites[random.IntN(4)]}
			r := train.Row{Keyword: id, Ad: id, Position: uint8(1 + n/3%3), Day: int32(20000 + n%14), Request: at,
				Says: countfile.Says{Device: true, Hour: true, QueryWords: true, Site: true}}
			if !effects && at.Device == uint8(search.Tablet) && r.Position == 1 {
				r.Position = 3 // where fewer users look, on any device
			}
			p := rate * float64(k.Quality) * float64(search.MatchType(k.Match).Permille()) / 1000 * looks[r.Position-1]
			if effects {
				p *= trueFactor(&k.Features, &at)
			}
			r.Impressions = uint64(impressions)
			for range impressions {
				if random.Float64() < p {
					r.Clicks++
				}
			}
			rows = append(rows, r)
		}
	}
	return rows
}

// setOf returns a set of the rows in which all keywords are known.
func setOf(t interface{ Fatal(...any) }, rows []train.Row) *train.Set {
	s := new(train.Set)
	for i := range rows {
		if err := s.Add(&rows[i]); err != nil {
			t.Fatal(err)
		}
	}
	for i := range rows {
		s.Know(rows[i].Keyword, keywordOf(rows[i].Keyword))
	}
	return s
}

func trained(t *testing.T, rows []train.Row, o train.Options) *train.Result {
	t.Helper()
	r, err := train.Train(setOf(t, rows), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func options() train.Options { return train.Options{Strength: train.DefaultStrength, By: "test"} }

// TestRecovers: a model of clicks that were drawn from known weights has nearly the factors of these weights, and expects about
// the right number of clicks in each part.
func TestRecovers(t *testing.T) {
	rows := users(1, 300, 400, true)
	r := trained(t, rows, options())
	m, err := scorer.Parse(r.File)
	if err != nil {
		t.Fatal(err)
	}
	got, want, off := 0.0, 0.0, 0.0
	each := func(f func(factor, true float64)) {
		for i := range rows {
			k, at := keywordOf(rows[i].Keyword), rows[i].Request
			f(float64(m.For(&at).Factor(&k.Features)), trueFactor(&k.Features, &at))
		}
	}
	each(func(factor, true float64) { got, want = got+factor, want+true })
	each(func(factor, true float64) { off += math.Abs(factor/got*want/true - 1) })
	if off /= float64(len(rows)); off > 0.06 {
		t.Errorf("factors are off by %.1f %%", 100*off)
	}
	if math.Abs(r.MeanFactor-1000) > 1.5 {
		t.Errorf("the mean factor is %v", r.MeanFactor)
	}
	for p, want := range looks {
		if got := r.Examination[p]; math.Abs(got-want) > 0.1*want {
			t.Errorf("position %d is looked at %v, want %v", p+1, got, want)
		}
	}
	for _, p := range r.Calibration {
		if math.Abs(p.Clicks-p.After) > 5*math.Sqrt(p.After) {
			t.Errorf("with factors of %v %v clicks are expected, and there are %v", p.Factor, p.After, p.Clicks)
		}
	}
	if r.Before <= r.After || r.Held.Keywords < 40 || r.Trained.Keywords+r.Held.Keywords != 300 || len(r.Calibration) != 5 {
		t.Errorf("%+v", r)
	}
	if !bytes.HasPrefix(r.File, []byte(`{"format":1,"about":"test: counts from 2024-10-04 to 2024-10-17, `)) {
		t.Errorf("%.100s", r.File)
	}
}

// TestRefusesNoise: if clicks depend only on quality, no model is better than none.
func TestRefusesNoise(t *testing.T) {
	written := 0
	for seed := range uint64(12) {
		r, err := train.Train(setOf(t, users(seed, 100, 60, false)), options())
		if err == nil {
			written++
		} else if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "not better than none") || r == nil || len(r.Calibration) == 0 {
			t.Fatalf("%+v, %v", r, err)
		}
	}
	if written > 1 {
		t.Errorf("%d of 12 models of nothing were made", written)
	}
}

// TestPositions: if users of tablets see ads at lower positions, and so click less, that is not attributed to the device.
func TestPositions(t *testing.T) {
	o := options()
	o.Features = []string{"device"}
	if r, err := train.Train(setOf(t, users(6, 150, 300, false)), o); !fault.Is(err, fault.Invalid) || math.Abs(r.Examination[2]-looks[2]) > 0.05 {
		t.Errorf("%v: %s", err, r.File)
	}
}

// TestOrder: the order of rows does not matter, nor how counts are divided into rows.
func TestOrder(t *testing.T) {
	rows := users(2, 100, 200, true)
	want := trained(t, rows, options())
	for seed := range uint64(4) {
		random := rand.New(rand.NewPCG(seed, 1))
		var list []train.Row
		for _, r := range rows {
			part := r
			part.Impressions = random.Uint64N(r.Impressions + 1)
			part.Clicks = min(r.Clicks, part.Impressions)
			r.Impressions, r.Clicks = r.Impressions-part.Impressions, r.Clicks-part.Clicks
			list = append(list, r, part)
		}
		random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		if got := trained(t, list, options()); !bytes.Equal(got.File, want.File) {
			t.Fatalf("%.200s\n%.200s", got.File, want.File)
		}
	}
}

// TestAnyCounts: any counts give an error with a kind, or a model that slaves can read, with integer factors from 0 to 2000.
func TestAnyCounts(t *testing.T) {
	models := 0
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 2))
		largest := []uint64{1, 50, 5000, math.MaxUint64}[random.IntN(4)]
		count := func() uint64 {
			if random.IntN(3) == 0 {
				return 0
			}
			return random.Uint64() % largest
		}
		rows := make([]train.Row, random.IntN(600))
		for i := range rows {
			rows[i] = train.Row{
				Keyword: 1 + random.Uint64N(120), Ad: random.Uint64N(2), Position: uint8(1 + random.IntN(20)), Day: int32(random.Uint32()),
				Request: auction.Situation{Hour: uint8(random.IntN(24))}, Says: countfile.Says{Hour: true}, Count: quality.Count{Impressions: count(), Clicks: count()},
			}
			rows[i].Clicks /= 1 + random.Uint64N(100)
		}
		o := options()
		o.Strength = []float64{1e-3, 20, 1e9}[random.IntN(3)]
		r, err := train.Train(setOf(t, rows), o)
		if err != nil && !fault.Is(err, fault.Invalid) {
			t.Fatal(seed, err)
		}
		if r == nil || r.File == nil {
			continue
		}
		models++
		m, err := scorer.Parse(r.File)
		if err != nil {
			t.Fatal(seed, err)
		}
		for id := range uint64(120) {
			k, at := keywordOf(id), auction.Situation{Hour: uint8(id % 24)}
			if f := m.For(&at).Factor(&k.Features); f > auction.MaxFactor {
				t.Fatalf("seed %d: factor %d", seed, f)
			}
		}
		if math.Abs(r.MeanFactor-1000) > 2 || math.IsNaN(r.Gain+r.Deviation+r.Before+r.After) {
			t.Fatalf("seed %d: %+v", seed, r)
		}
	}
	if models < 20 {
		t.Errorf("only %d models", models)
	}
}

// TestFeatures: the features are the requested ones, or all that every row has.
func TestFeatures(t *testing.T) {
	rows := users(3, 100, 300, true)
	some := options()
	some.Features = []string{"device", "match"}
	if r := trained(t, rows, some); strings.Join(r.Features, " ") != "match device" || r.Weights != 6 {
		t.Errorf("%v, %d weights: %s", r.Features, r.Weights, r.File)
	}
	rows[7].Says.Device = false
	if r := trained(t, rows, options()); strings.Join(r.Features, " ") != "match words quality advertiser campaign hour weekday query_words site" || strings.Contains(string(r.File), "mobile") {
		t.Errorf("%v: %s", r.Features, r.File)
	}
	for _, names := range [][]string{{"device"}, {"match", "bid"}} {
		o := options()
		o.Features = names
		if _, err := train.Train(setOf(t, rows), o); !fault.Is(err, fault.Invalid) || fault.FieldOf(err) != "features" {
			t.Errorf("%v: %v", names, err)
		}
	}
}

// TestTooLittle: sets that are too small are refused with the reason.
func TestTooLittle(t *testing.T) {
	rows := users(4, 100, 50, true)
	never := users(4, 100, 50, true)
	for i := range never {
		never[i].Clicks = 0
	}
	more := users(4, 100, 50, true)
	for i := range more {
		more[i].Impressions, more[i].Clicks = more[i].Clicks, more[i].Impressions
	}
	for name, c := range map[string]struct {
		rows []train.Row
		says string
	}{
		"nothing": {nil, "too little"}, "few keywords": {rows[:36*20], "too little"}, "no clicks": {never, "too little"}, "columns mistaken": {more, "too little"},
	} {
		if _, err := train.Train(setOf(t, c.rows), options()); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	o := options()
	if o.Strength = math.NaN(); !fault.Is(errors.Join(second(train.Train(setOf(t, rows), o))), fault.Invalid) {
		t.Error("a strength that is not a number")
	}
}

func second(_ *train.Result, err error) error { return err }

// TestTooMuch: a set is bounded, however many sites a file names. Cells that it already has can still be counted.
func TestTooMuch(t *testing.T) {
	s, r := new(train.Set), train.Row{Keyword: 1, Position: 1, Count: quality.Count{Impressions: 1}}
	for n := range train.MaxCells {
		if r.Ad = uint64(n); s.Add(&r) != nil {
			t.Fatalf("cell %d is refused", n)
		}
	}
	if err := s.Add(&r); err != nil {
		t.Error(err)
	}
	if r.Request.Site = "more.example"; !fault.Is(s.Add(&r), fault.Invalid) {
		t.Error("there is no bound")
	}
}

// TestLeftOut: keywords that the database does not have, and ads with more clicks than impressions, are left out and reported.
func TestLeftOut(t *testing.T) {
	rows := users(5, 100, 300, true)
	want := trained(t, rows, options())
	wrong := rows[0]
	wrong.Keyword, wrong.Ad, wrong.Impressions, wrong.Clicks = 10, 99, 3, 4
	gone := rows[0]
	gone.Keyword = 1000
	s := setOf(t, append(rows, wrong, gone))
	s.Know(1000, train.Keyword{})
	r, err := train.Train(s, options())
	if err != nil || r.Unknown != 1 || len(r.Refused) != 1 || r.Refused[0].Ad != 99 || !bytes.Equal(r.File, want.File) {
		t.Errorf("%+v, %v", r, err)
	}
}
