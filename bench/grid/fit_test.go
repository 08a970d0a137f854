package grid

import (
	"math"
	"strings"
	"testing"

	"adshard/bench/measure"
)

// reports returns reports made from known costs: at the master, a query takes 50 µs of
// processor time and each shard 10 µs more; at the slave, a call takes 20 µs and a search
// 30 µs.
func reports() Reports {
	g := &measure.Report{Name: "grid", Commit: "abc1234"}
	g.Add("keywords", "", 300_000)
	g.Add("rate of the open loop", "/s", 5000)
	for _, at := range []Grid{One, Three, {1, 4}, {2, 2}, {4, 1}} {
		n := float64(at.Shards)
		g.Add(Name(at, closed, "answers"), "/s", 2e6/(50+60*n+20))
		g.Add(Name(at, closed, "master"), "µs per answer", 50+10*n)
		g.Add(Name(at, closed, "slaves"), "µs per answer", 50*n)
		g.Add(Name(at, closed, "generator"), "µs per answer", 20)
		for _, way := range []string{alone, open} {
			spread(g, Name(at, way, ""), 400)
		}
	}
	r := Reports{Grid: g, Cores: 2}
	for _, keywords := range []float64{1_000_000, 100_000} {
		m := &measure.Report{Name: "memory"}
		m.Add("keywords", "", keywords)
		spread(m, "search ", 30/1.1)
		r.Searches = append(r.Searches, m)
	}
	r.Curve = &measure.Report{Name: "memory"}
	for _, given := range []string{"250", "30"} {
		spread(r.Curve, given+" bytes a keyword: search ", 30)
		r.Curve.Add(given+" bytes a keyword: disk per keyword", "bytes", 55)
	}
	return r
}

func spread(r *measure.Report, prefix string, median float64) {
	r.AddSpread(prefix, measure.Spread{Mean: 1.1 * median, Median: median, P90: 1.5 * median, P99: 3 * median, P999: 6 * median})
}

// TestFitFindsTheCosts checks that the costs from which reports were made are found again,
// and that the comparison's predictions follow from the costs.
func TestFitFindsTheCosts(t *testing.T) {
	from := reports()
	f, err := Fit(from)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string][2]float64{
		"query": {f.Query, 50}, "master's call": {f.MasterCall, 10}, "slave's call": {f.SlaveCall, 20},
		"disk": {f.Disk, 55}, "usable": {f.Usable, 1}, "fewest keywords": {f.Searches[0].Keywords, 100_000}, "least memory": {f.Memory[0].Bytes, 30},
	} {
		if math.Abs(c[0]-c[1]) > 1e-6 {
			t.Errorf("%s: %g, want %g", name, c[0], c[1])
		}
	}
	if p := predict(f, from, One); math.Abs(p.OpenP99/1200-1) > 0.01 {
		t.Errorf("p99 of the open loop: %g, measured 1200", p.OpenP99)
	}
	report := new(measure.Report)
	Compare(report, f, from, Grids(from.Grid))
	for _, g := range []string{"1x4", "2x2", "4x1"} {
		measured, _ := report.Find(g + ": answers, closed loop, measured")
		predicted, ok := report.Find(g + ": answers, closed loop, predicted")
		if !ok || math.Abs(predicted.Value/measured.Value-1) > 1e-6 {
			t.Errorf("%s: %g answers/s predicted, %g measured", g, predicted.Value, measured.Value)
		}
	}
}

func TestFitSaysWhatIsMissing(t *testing.T) {
	from := reports()
	from.Grid.Figures = from.Grid.Figures[:1]
	if _, err := Fit(from); err == nil || !strings.Contains(err.Error(), `"3x1 closed: master" of the report grid`) {
		t.Error(err)
	}
	from = reports()
	from.Curve = new(measure.Report)
	if _, err := Fit(from); err == nil {
		t.Error("no curve, and no error")
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]Grid{"2x3": {2, 3}, "1x1": {1, 1}} {
		if got, err := Parse(text); err != nil || got != want || got.String() != text {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "2", "x", "0x1", "1x0", "2x2x2", "-1x2", "100x100", "ax2"} {
		if _, err := Parse(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}
