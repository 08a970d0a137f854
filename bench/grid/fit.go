package grid

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"adshard/bench/measure"
	"adshard/internal/sizing"
)

// One is the first of the two grids from which figures are computed. All other grids are
// compared with what the figures predict.
var One = Grid{1, 1}

// Three is the second of these grids.
var Three = Grid{3, 1}

// Reports holds the reports from which figures are computed.
type Reports struct {
	// Grid comes from `adbench grid`, with One and Three; Searches come from `adbench memory`
	// on stores of several sizes; Curve comes from `adbench memory --curve`.
	Grid     *measure.Report
	Searches []*measure.Report
	Curve    *measure.Report
	// Cores is the number of cores of the machine.
	Cores int
}

// reading takes figures from reports and remembers which ones are missing.
type reading struct{ missing []string }

func (r *reading) value(from *measure.Report, name string) float64 {
	v, ok := from.Find(name)
	if !ok {
		r.missing = append(r.missing, fmt.Sprintf("%q of the report %s", name, from.Name))
	}
	return v.Value
}

func (r *reading) times(from *measure.Report, prefix, median string) sizing.Times {
	return sizing.Times{
		Mean: r.value(from, prefix+"mean"), P50: r.value(from, prefix+median), P90: r.value(from, prefix+"p90"),
		P99: r.value(from, prefix+"p99"), P999: r.value(from, prefix+"p99.9"),
	}
}

// Fit computes the figures of `adshard size`.
func Fit(from Reports) (*sizing.Figures, error) {
	var r reading
	keywords := r.value(from.Grid, "keywords")
	f := &sizing.Figures{Commit: from.Grid.Commit, Variability: 1, Alone: sizing.Searches{Keywords: keywords, Times: r.times(from.Grid, Name(One, alone, ""), "median")}}
	for _, s := range from.Searches {
		f.Searches = append(f.Searches, sizing.Searches{Keywords: r.value(s, "keywords"), Times: r.times(s, "search ", "median")})
	}
	slices.SortFunc(f.Searches, func(a, b sizing.Searches) int { return cmp.Compare(a.Keywords, b.Keywords) })
	for _, v := range from.Curve.Figures {
		given, ok := strings.CutSuffix(v.Name, " bytes a keyword: search median")
		if !ok {
			continue
		}
		var m sizing.Memory
		if _, err := fmt.Sscan(given, &m.Bytes); err != nil {
			return nil, fmt.Errorf("%s: %w", v.Name, err)
		}
		m.Times = r.times(from.Curve, given+" bytes a keyword: search ", "median")
		f.Disk = r.value(from.Curve, given+" bytes a keyword: disk per keyword")
		f.Memory = append(f.Memory, m)
	}
	slices.SortFunc(f.Memory, func(a, b sizing.Memory) int { return cmp.Compare(a.Bytes, b.Bytes) })
	if len(f.Searches) > 0 && len(f.Memory) > 0 {
		processorTimes(f, &r, from.Grid, keywords, from.Cores)
	}
	measured := r.value(from.Grid, Name(One, open, "p99"))
	if len(r.missing) > 0 {
		return nil, fmt.Errorf("there is no %s", strings.Join(r.missing, ", no "))
	}
	if err := f.Validate(); err != nil {
		return nil, fmt.Errorf("the reports do not give figures that can be used: %w", err)
	}
	f.Variability = variability(*f, from, measured)
	return f, nil
}

// processorTimes divides the cost of a query into parts. From one shard to three, two
// calls are added.
func processorTimes(f *sizing.Figures, r *reading, report *measure.Report, keywords float64, cores int) {
	one, three := r.value(report, Name(One, closed, "master")), r.value(report, Name(Three, closed, "master"))
	f.MasterCall = (three - one) / 2
	f.Query = one - f.MasterCall
	slaves := r.value(report, Name(One, closed, "slaves")) - f.Search(keywords).Mean
	third := r.value(report, Name(Three, closed, "slaves"))/3 - f.Search(keywords/3).Mean
	f.SlaveCall = (slaves + third) / 2
	all := one + r.value(report, Name(One, closed, "slaves")) + r.value(report, Name(One, closed, "generator"))
	f.Usable = min(1, r.value(report, Name(One, closed, "answers"))*all/1e6/float64(cores))
}

// variability returns the variability with which the predicted p99 of one shard equals the
// measured one.
func variability(f sizing.Figures, from Reports, measured float64) float64 {
	low, high := 0.01, 1000.0
	for range 50 {
		f.Variability = math.Sqrt(low * high)
		if predict(&f, from, One).OpenP99 > measured {
			high = f.Variability
		} else {
			low = f.Variability
		}
	}
	return high
}

// Prediction is what the figures predict for a grid whose processes share one machine with
// the load generator.
type Prediction struct {
	// Closed is the number of answers per second in the closed loop, Work the processor time
	// per answer in µs; the other fields are latencies in µs.
	Closed, Work, AloneP50, AloneP99, OpenP50, OpenP99 float64
}

func predict(f *sizing.Figures, from Reports, g Grid) Prediction {
	var r reading
	keywords := r.value(from.Grid, "keywords") / float64(g.Shards)
	master, slaves := f.Work(g.Shards, keywords)
	work := master + slaves
	all := work + r.value(from.Grid, Name(One, closed, "generator"))
	rate := r.value(from.Grid, "rate of the open loop")
	idle := sizing.Queue{Cores: from.Cores, Job: 1}
	busy := sizing.Queue{Cores: from.Cores, Busy: rate * all / 1e6 / f.Usable, Job: all / float64(2+g.Shards)}
	full := math.Inf(1)
	return Prediction{
		Closed: float64(from.Cores) * f.Usable * 1e6 / all, Work: work,
		AloneP50: f.Exceeded(0.5, g.Shards, keywords, full, idle), AloneP99: f.Exceeded(0.01, g.Shards, keywords, full, idle),
		OpenP50: f.Exceeded(0.5, g.Shards, keywords, full, busy), OpenP99: f.Exceeded(0.01, g.Shards, keywords, full, busy),
	}
}

// Compare adds to the report what was measured for each grid beside what the figures
// predict for it.
func Compare(report *measure.Report, f *sizing.Figures, from Reports, grids []Grid) {
	for _, g := range grids {
		p := predict(f, from, g)
		fitted := ""
		if g == One || g == Three {
			fitted = ", of which figures were computed"
		}
		var r reading
		work := r.value(from.Grid, Name(g, closed, "master")) + r.value(from.Grid, Name(g, closed, "slaves"))
		report.Add(fmt.Sprintf("%v%s: processor time, measured", g, fitted), "µs per answer", work)
		report.Add(fmt.Sprintf("%v: processor time, predicted", g), "µs per answer", p.Work)
		for _, q := range []struct {
			name, way, quantity, unit string
			predicted                 float64
		}{
			{"answers, closed loop", closed, "answers", "/s", p.Closed},
			{"median, alone", alone, "median", "µs", p.AloneP50}, {"p99, alone", alone, "p99", "µs", p.AloneP99},
			{"median, open loop", open, "median", "µs", p.OpenP50}, {"p99, open loop", open, "p99", "µs", p.OpenP99},
		} {
			v, _ := from.Grid.Find(Name(g, q.way, q.quantity))
			v.Name = fmt.Sprintf("%v: %s, measured", g, q.name)
			report.Figures = append(report.Figures, v)
			report.Add(fmt.Sprintf("%v: %s, predicted", g, q.name), q.unit, q.predicted)
		}
	}
}

// Grids returns the grids of a report of `adbench grid`.
func Grids(report *measure.Report) (list []Grid) {
	for _, v := range report.Figures {
		if name, ok := strings.CutSuffix(v.Name, " "+closed+": answers"); ok {
			if g, err := Parse(name); err == nil {
				list = append(list, g)
			}
		}
	}
	return list
}
