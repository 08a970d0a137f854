package executions

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"adshard/bench/claims"
	"adshard/bench/measure"
)

// The layouts of the thesis; B is the original one. `in` and `told` are variants made here,
// to show the effect of parts of a step.
const (
	barrels = "B"
	pr      = "RDB-Pr"
	in      = "RDB-Pr-In"
	prOpt   = "RDB-Pr-Opt"
	two     = "RDB-Pr-Pr"
	twoOpt  = "RDB-Pr-Pr-Opt"
	flat    = "RDB-Pr-Fl"
	raw     = "RDB-Pr-NS"
	rawOpt  = "RDB-Pr-NS-Opt"
	flatOpt = "RDB-Pr-Fl-Opt"
	told    = "RDB-Pr-Fl-Told"
)

// databases returns the thesis' layouts in RocksDB.
func databases() []string {
	return []string{pr, prOpt, two, twoOpt, flat, raw, rawOpt, flatOpt}
}

// claims compares what chapter 7 says with the report. Claims about what was not measured are
// "not tested".
func (r *Report) claims() []claims.Claim {
	c := &comparison{report: r}
	c.original()
	c.best()
	c.splits()
	c.serializations()
	c.tuning()
	c.memory()
	c.evolution()
	c.space()
	c.remote()
	return c.list
}

func (c *comparison) original() {
	because := c.cheaper()
	c.compare(claims.Claim{Where: "figure 7.4", Paper: "RDB-Pr-Fl-Opt outperforms B by about a factor of two", Because: because}, muchSlower, barrels, flatOpt, "SQ1-1S-HR")
	c.compare(claims.Claim{Where: "figure 7.5", Paper: "with random queries RDB-Pr-Fl-Opt is at least comparable to B", Because: because}, notFaster, barrels, flatOpt, "RQ1600-1S-HR")
}

// cheaper explains, from the report, why B does better here than in the thesis.
func (c *comparison) cheaper() string {
	const setup = "RQ1600-1S-HR"
	b, o := c.report.find(setup, barrels), c.report.find(setup, flatOpt)
	if b == nil || o == nil || b.Cost == nil || o.Cost == nil {
		return ""
	}
	n := measure.Number
	return fmt.Sprintf("both look at every keyword that begins with a word of the query, and on %s a keyword costs our B %s ns, read where it lies in a mapped file, and RDB-Pr-Fl-Opt %s, a step of RocksDB's iterator; a query costs %s and %s µs besides, a match %s and %s ns. The original program, whose barrels lacked locality, is not there to be measured",
		setup, n(b.Cost.Keyword), n(o.Cost.Keyword), n(b.Cost.Query), n(o.Cost.Query), n(b.Cost.Match), n(o.Cost.Match))
}

// single returns the setups with a repeated query for which the thesis shows figures.
func single() []string { return []string{"SQ1-1S-HR", "SQ1-8S-HR", "SQ2-8S-HR"} }

// many returns those of them whose query has many matches.
func many() []string { return []string{"SQ1-8S-HR", "SQ2-8S-HR"} }

// best judges whether the two final layouts are better than all others, and equally good.
func (c *comparison) best() {
	var f findings
	var words []string
	for _, s := range single() {
		beside, apart := c.beside(s), c.report.ratios(s, flatOpt, rawOpt)
		if len(beside) == 0 {
			continue
		}
		f.add(beside, slower)
		f.add(apart, near)
		words = append(words, fmt.Sprintf("%s on %s, and RDB-Pr-Fl-Opt ÷ RDB-Pr-NS-Opt %s", said(beside), s, said(apart)))
	}
	one := claims.Claim{Where: "figures 7.1 to 7.3", Paper: "RDB-Pr-Fl-Opt and RDB-Pr-NS-Opt are clearly the best in RocksDB, and alike"}
	if len(words) > 0 {
		one.Ours = "the best other one ÷ the slower one of both: " + strings.Join(words, "; ")
	}
	c.add(one, f)
}

// beside returns, for each run with all of them, the median of the best other layout in
// RocksDB over that of the slower of the two final ones.
func (c *comparison) beside(setup string) (out []float64) {
	a, b := c.report.find(setup, flatOpt), c.report.find(setup, rawOpt)
	if a == nil || b == nil {
		return nil
	}
	for _, run := range slices.Sorted(maps.Keys(a.Medians)) {
		least := math.Inf(1)
		for _, of := range databases() {
			if o := c.report.find(setup, of); o != nil && of != flatOpt && of != rawOpt && o.Medians[run] > 0 {
				least = min(least, o.Medians[run])
			}
		}
		if v := b.Medians[run]; v > 0 && !math.IsInf(least, 1) {
			out = append(out, least/max(v, a.Medians[run]))
		}
	}
	return out
}

func (c *comparison) splits() {
	c.compare(claims.Claim{Where: "figure 7.2", Paper: "two databases are better than one with few matches, since less is read that is not needed (overreads)",
		Because: "a look-up for each match costs more than what is read besides, from memory"}, slower, prOpt, two, "SQ1-1S-HR")
	c.compare(claims.Claim{Where: "figures 7.1 and 7.3", Paper: "two databases are much worse than one with 14 and 136 matches, since point look-ups are badly optimised",
		Because: "what a look-up costs is less than what reading whole keywords does, as long as indexes fit in the cache"}, muchSlower, two, prOpt, many()...)
}

func (c *comparison) serializations() {
	c.compare(claims.Claim{Where: "figures 7.1 to 7.3", Paper: "Protocol Buffers are significantly worse than FlatBuffers",
		Because: "where records are looked up, these look-ups are most of the time, and they are the same"}, slower, two, flat, single()...)
	c.compare(claims.Claim{Where: "figures 7.1 to 7.3", Paper: "preparing what is computed again and again has little impact",
		Because: "in Go a message that is made anew is work for the collector of garbage too"}, near, two, twoOpt, single()...)
	c.compare(claims.Claim{Where: "section 7.1", Paper: "FlatBuffers and memory copied as it is perform alike"}, near, flat, raw, single()...)
	c.compare(claims.Claim{Where: "section 7.3.1", Paper: "so they do where all else is optimised"}, near, flatOpt, rawOpt, single()...)
}

func (c *comparison) tuning() {
	const role = "configuration plays a great role: "
	c.compare(claims.Claim{Where: "section 7.3.1", Paper: role + "RDB-Pr beside RDB-Pr-Opt",
		Because: "RDB-Pr has RocksDB's defaults here, indexes and filters outside of the cache; what that option costs is the next line"}, slower, pr, prOpt, single()...)
	c.compare(claims.Claim{Where: "section 7.1", Paper: "one of the most important steps is to set cache-index-and-filter-blocks to false",
		Because: "indexes and filters fit in the cache at this size", Remark: "1S is not judged: at a tenth of the thesis' size they fit in the cache"}, slower, in, pr, many()...)
	c.compare(claims.Claim{Where: "section 7.3.1", Paper: role + "RDB-Pr-NS beside RDB-Pr-NS-Opt",
		Remark: "its code is another one too, there as here, and here its tables are made for memory"}, muchSlower, raw, rawOpt, single()...)
	c.compare(claims.Claim{Where: "section 7.1", Paper: "the last step, code and that option at Keyword RocksDB, is a tremendous boost",
		Because: "indexes and filters fit in the cache at this size",
		Remark:  "RDB-Pr-Fl-Told changes what the thesis tells of, and nothing else; with few matches the thesis sees no such effect"}, muchSlower, flat, told, many()...)
}

// harsher says what low resources are here, where no memory cgroup can be made.
const harsher = "low resources are harsher here than the thesis' were: pages of files are dropped every 20 ms"

// memory judges the effect of low resources. They are harsher here: that something is slower
// proves nothing.
func (c *comparison) memory() {
	lowAndHigh := func(one claims.Claim, limit float64, low, high string, of ...string) {
		var f findings
		var words []string
		for _, name := range of {
			a, b := c.report.find(low, name), c.report.find(high, name)
			if a == nil || b == nil {
				continue
			}
			var ratios []float64
			for _, run := range slices.Sorted(maps.Keys(a.Medians)) {
				if v, ok := b.Medians[run]; ok {
					ratios = append(ratios, a.Medians[run]/v)
				}
			}
			f.add(ratios, func(v float64) bool { return v < limit })
			words = append(words, name+" "+said(ratios))
		}
		if len(words) > 0 {
			one.Ours = fmt.Sprintf("time on %s ÷ on %s: %s", low, high, strings.Join(words, ", "))
		}
		c.add(one, f)
		if last := &c.list[len(c.list)-1]; !last.Holds && last.Untested == "" {
			last.Untested = harsher
		}
	}
	lowAndHigh(claims.Claim{Where: "figures 7.6 and 7.7", Paper: "RQ1600-8S-LR is only slightly worse than RQ1600-8S-HR"}, much, "RQ1600-8S-LR", "RQ1600-8S-HR", flatOpt)
	lowAndHigh(claims.Claim{Where: "section 7.3.1", Paper: "with a repeated query it does not matter that the data do not fit in memory",
		Remark: "8S has 1.4 times as many keywords as 5S"}, alike, "SQ2-5S-LR", "SQ2-8S-HR", pr, prOpt, two, twoOpt, flat, raw)
}

// enough is the least number of executions in a part of a course from which it can be judged.
const enough = 50

// evolution judges figure 7.8, by the run with the middle median.
func (c *comparison) evolution() {
	const setup = "SQ1-8S-HR"
	late, jumps := 0.0, 0.0
	var where [2]string
	for _, name := range databases() {
		o := c.report.find(setup, name)
		if o == nil || o.Executions < enough*parts {
			continue
		}
		// Compare the second to the fifth hundredth with the second half.
		if v := slices.Max(o.Course.Medians[1:5]) / o.Box.Median; v > late {
			late, where[0] = v, name
		}
		if v := slices.Max(o.Course.Medians[parts/2:]) / o.Box.Median; v > jumps {
			jumps, where[1] = v, name
		}
	}
	var steady, jumping findings
	first, second := claims.Claim{Where: "figure 7.8", Paper: "times become steady quite fast"}, claims.Claim{
		Where: "figure 7.8", Paper: "the only irregularity are jumps, best seen with RDB-Pr-NS, perhaps RocksDB's work in the background",
		Because: "there is nothing in the background: each database is one file that is never compacted"}
	if late > 0 {
		steady.add([]float64{late}, func(v float64) bool { return v < much })
		jumping.add([]float64{jumps}, slower)
		first.Ours = fmt.Sprintf("from the second to the fifth hundredth of the executions a median of a hundredth is at most %s × that of the latter half (%s)", measure.Number(late), where[0])
		second.Ours = fmt.Sprintf("in the latter half a median of a hundredth is at most %s × that of all (%s)", measure.Number(jumps), where[1])
	}
	c.add(first, steady)
	c.add(second, jumping)
}

// space judges figure 7.9.
func (c *comparison) space() {
	var f findings
	var words []string
	for _, s := range []string{"SQ1-1S-HR", "SQ1-8S-HR"} {
		one, both := c.report.find(s, prOpt), c.report.find(s, two)
		if one == nil || both == nil {
			continue
		}
		f.add([]float64{both.Disk / one.Disk}, func(v float64) bool { return v > 1 })
		words = append(words, fmt.Sprintf("%s and %s bytes a keyword on %s", measure.Number(one.Disk), measure.Number(both.Disk), s))
		if b := c.report.find(s, barrels); b != nil {
			words[len(words)-1] += fmt.Sprintf(" (B: %s)", measure.Number(b.Disk))
		}
	}
	c.add(claims.Claim{Where: "figure 7.9", Paper: "one database takes less space than two", Ours: strings.Join(words, ", ")}, f)
}

// remote judges what section 4.1 says about stores in the same process and remote ones.
func (c *comparison) remote() {
	setups := []string{"RQ1600-1S-HR", "RQ1600-8S-HR"}
	for _, v := range []struct {
		layout, paper string
		most          float64 // share of RInK's time
	}{
		{"stateful", "stateful takes 30 to 60 % less than RInK", 0.7},
		{"LInK", "LInK takes 40 to 60 % less than RInK", 0.6},
	} {
		one := claims.Claim{Where: "section 4.1", Paper: v.paper, Remark: "there it is whole applications, here a search is all there is"}
		var all []float64
		for _, s := range setups {
			all = append(all, c.report.ratios(s, v.layout, "RInK")...)
		}
		if len(all) > 0 && slices.Min(all) < 0.4 {
			one.Remark = fmt.Sprintf("here it is up to %.0f %% less: %s", 100*(1-slices.Min(all)), one.Remark)
		}
		c.compare(one, func(ratio float64) bool { return ratio <= v.most }, v.layout, "RInK", setups...)
	}
}
