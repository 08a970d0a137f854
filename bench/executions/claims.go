package executions

import (
	"fmt"
	"slices"
	"strings"

	"adshard/bench/claims"
	"adshard/bench/measure"
)

// The layouts that the thesis speaks of; B is the original one.
const (
	barrels = "B"
	pr      = "RDB-Pr"
	prOpt   = "RDB-Pr-Opt"
	two     = "RDB-Pr-Pr"
	twoOpt  = "RDB-Pr-Pr-Opt"
	flat    = "RDB-Pr-Fl"
	raw     = "RDB-Pr-NS"
	rawOpt  = "RDB-Pr-NS-Opt"
	flatOpt = "RDB-Pr-Fl-Opt"
)

// databases are the thesis' layouts in RocksDB.
func databases() []string {
	return []string{pr, prOpt, two, twoOpt, flat, raw, rawOpt, flatOpt}
}

// What counts as alike, better and much better, in medians of times.
const (
	alike  = 1.25
	better = 1.1
	twice  = 1.5
)

// claims compares what chapter 7 says with the report, as far as it has what is needed.
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

// comparison collects claims.
type comparison struct {
	report *Report
	list   []claims.Claim
}

func (c *comparison) add(one claims.Claim) { c.list = append(c.list, one) }

// times are the ratios of the medians of a layout to those of another one, by setup,
// where both were measured, and that in words.
func (c *comparison) times(layout, other string, setups ...string) (ratios []float64, said string) {
	var words []string
	for _, s := range setups {
		a, b := c.report.find(s, layout), c.report.find(s, other)
		if a == nil || b == nil {
			continue
		}
		v := a.Box.Median / b.Box.Median
		ratios, words = append(ratios, v), append(words, fmt.Sprintf("%s × (%s)", measure.Number(v), s))
	}
	return ratios, strings.Join(words, ", ")
}

// compare adds a claim about the ratios of a layout to another one, if there are any.
func (c *comparison) compare(one claims.Claim, holds func(ratio float64) bool, layout, other string, setups ...string) {
	ratios, said := c.times(layout, other, setups...)
	if len(ratios) == 0 {
		return
	}
	one.Ours = fmt.Sprintf("%s takes %s the time of %s", layout, said, other)
	one.Holds = !slices.ContainsFunc(ratios, func(v float64) bool { return !holds(v) })
	c.add(one)
}

func near(v float64) bool       { return v < alike && v > 1/alike }
func slower(v float64) bool     { return v > better }
func muchSlower(v float64) bool { return v > twice }
func notSlower(v float64) bool  { return v > 1/alike }

// ours is why B does better here than there.
const ours = "our B is the idea of barrels without the original program, which a lookup without locality slowed down (details are the company's): it looks at few keywords beside RocksDB's iterator, which steps over every keyword of each first word"

func (c *comparison) original() {
	c.compare(claims.Claim{Where: "figure 7.4", Paper: "RDB-Pr-Fl-Opt outperforms B by about a factor of two", Because: ours}, muchSlower, barrels, flatOpt, "SQ1-1S-HR")
	c.compare(claims.Claim{Where: "figure 7.5", Paper: "with random queries RDB-Pr-Fl-Opt is at least comparable to B", Because: ours}, notSlower, barrels, flatOpt, "RQ1600-1S-HR")
}

// single are the setups with a repeated query of which the thesis shows figures.
func single() []string { return []string{"SQ1-1S-HR", "SQ1-8S-HR", "SQ2-8S-HR"} }

func (c *comparison) best() {
	holds, any := true, false
	var said []string
	for _, s := range single() {
		a, b := c.report.find(s, flatOpt), c.report.find(s, rawOpt)
		if a == nil || b == nil {
			continue
		}
		least := 0.0
		for _, name := range databases() {
			if o := c.report.find(s, name); o != nil && name != flatOpt && name != rawOpt && (least == 0 || o.Box.Median < least) {
				least = o.Box.Median
			}
		}
		if least == 0 {
			continue
		}
		any = true
		slower := max(a.Box.Median, b.Box.Median)
		holds = holds && least/slower > better && near(a.Box.Median/b.Box.Median)
		said = append(said, fmt.Sprintf("%s: %s and %s µs, the next %s", s, measure.Number(a.Box.Median), measure.Number(b.Box.Median), measure.Number(least)))
	}
	if any {
		c.add(claims.Claim{Where: "figures 7.1 to 7.3", Paper: "RDB-Pr-Fl-Opt and RDB-Pr-NS-Opt are clearly the best in RocksDB, and alike", Ours: strings.Join(said, "; "), Holds: holds})
	}
}

func (c *comparison) splits() {
	c.compare(claims.Claim{Where: "figure 7.2", Paper: "two databases are better than one with few matches, since less is read that is not needed (overreads)",
		Because: "the second database costs a look-up for each match, and overreads from memory cost little"}, slower, prOpt, two, "SQ1-1S-HR")
	c.compare(claims.Claim{Where: "figures 7.1 and 7.3", Paper: "two databases are much worse than one with 14 and 136 matches, since point look-ups are badly optimised",
		Because: "what a look-up costs is less than what reading whole keywords does"}, slower, two, prOpt, "SQ1-8S-HR", "SQ2-8S-HR")
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
	c.compare(claims.Claim{Where: "section 7.3.1", Paper: "configuration plays a great role: RDB-Pr beside RDB-Pr-Opt",
		Because: "with everything in memory the options that are about files matter little"}, slower, pr, prOpt, single()...)
	c.compare(claims.Claim{Where: "section 7.3.1", Paper: "and RDB-Pr-NS beside RDB-Pr-NS-Opt", Remark: "its code is another one too, there as here"}, slower, raw, rawOpt, single()...)
}

func (c *comparison) memory() {
	if low, high := c.report.find("RQ1600-8S-LR", flatOpt), c.report.find("RQ1600-8S-HR", flatOpt); low != nil && high != nil {
		v := low.Box.Median / high.Box.Median
		c.add(claims.Claim{Where: "figures 7.6 and 7.7", Paper: "RQ1600-8S-LR is only slightly worse than RQ1600-8S-HR", Holds: v < twice,
			Ours:    fmt.Sprintf("%s takes %s × the time (medians %s and %s µs)", flatOpt, measure.Number(v), measure.Number(low.Box.Median), measure.Number(high.Box.Median)),
			Because: "here the pages of files are dropped every 20 ms, so that what is not in the cache is read from the disk; and with high resources this layout lies in tables made for memory, with low ones in blocks"})
	}
	var words []string
	holds := true
	for _, name := range []string{pr, prOpt, two, twoOpt, flat, raw} { // those that lie alike in both
		low, high := c.report.find("SQ2-5S-LR", name), c.report.find("SQ2-8S-HR", name)
		if low == nil || high == nil {
			continue
		}
		v := low.Box.Median / high.Box.Median
		holds, words = holds && v < alike, append(words, fmt.Sprintf("%s %s ×", name, measure.Number(v)))
	}
	if len(words) > 0 {
		c.add(claims.Claim{Where: "section 7.3.1", Paper: "with a repeated query it does not matter that the data do not fit in memory", Holds: holds,
			Ours: "SQ2-5S-LR takes, beside SQ2-8S-HR with 1.4 times as many keywords: " + strings.Join(words, ", ")})
	}
}

// evolution judges figure 7.8.
func (c *comparison) evolution() {
	const setup = "SQ1-8S-HR"
	late, jumps := 0.0, 0.0
	var where [2]string
	for _, name := range databases() {
		o := c.report.find(setup, name)
		if o == nil || len(o.Course.Medians) < parts {
			continue
		}
		// The second to the fifth hundredth, beside the latter half.
		if v := slices.Max(o.Course.Medians[1:5]) / o.Box.Median; v > late {
			late, where[0] = v, name
		}
		if v := slices.Max(o.Course.Medians[parts/2:]) / o.Box.Median; v > jumps {
			jumps, where[1] = v, name
		}
	}
	if late == 0 {
		return
	}
	c.add(claims.Claim{Where: "figure 7.8", Paper: "times become steady quite fast", Holds: late < twice,
		Ours: fmt.Sprintf("from the second to the fifth hundredth of the executions a median of a hundredth is at most %s × that of the latter half (%s)", measure.Number(late), where[0])})
	c.add(claims.Claim{Where: "figure 7.8", Paper: "the only irregularity are jumps, best seen with RDB-Pr-NS, perhaps RocksDB's work in the background", Holds: jumps > alike,
		Ours:    fmt.Sprintf("in the latter half a median of a hundredth is at most %s × that of all (%s)", measure.Number(jumps), where[1]),
		Because: "there is nothing in the background: each database is one file that is never compacted"})
}

// space judges figure 7.9.
func (c *comparison) space() {
	var words []string
	holds := true
	for _, s := range []string{"SQ1-1S-HR", "SQ1-8S-HR"} {
		one, both := c.report.find(s, prOpt), c.report.find(s, two)
		if one == nil || both == nil {
			continue
		}
		holds = holds && one.Disk < both.Disk
		words = append(words, fmt.Sprintf("%s and %s bytes a keyword (%s)", measure.Number(one.Disk), measure.Number(both.Disk), s))
	}
	if len(words) > 0 {
		c.add(claims.Claim{Where: "figure 7.9", Paper: "one database takes less space than two", Ours: strings.Join(words, ", "), Holds: holds})
	}
}

// remote judges what section 4.1 reports of stores in the same process beside remote ones.
func (c *comparison) remote() {
	setups := []string{"RQ1600-1S-HR", "RQ1600-8S-HR"}
	for _, v := range []struct {
		layout, paper string
		most          float64 // of RInK's time
	}{
		{"stateful", "stateful takes 30 to 60 % less than RInK", 0.7},
		{"LInK", "LInK takes 40 to 60 % less than RInK", 0.6},
	} {
		one := claims.Claim{Where: "section 4.1", Paper: v.paper, Remark: "there it is whole applications, here a search is all there is"}
		if ratios, _ := c.times(v.layout, "RInK", setups...); len(ratios) > 0 && slices.Min(ratios) < 0.4 {
			one.Remark = fmt.Sprintf("here it is up to %.0f %% less: %s", 100*(1-slices.Min(ratios)), one.Remark)
		}
		c.compare(one, func(ratio float64) bool { return ratio <= v.most }, v.layout, "RInK", setups...)
	}
}
