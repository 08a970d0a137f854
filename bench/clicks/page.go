package clicks

import (
	"fmt"
	"html/template"
	"io"

	"adshard/bench/chart"
	"adshard/bench/measure"
	"adshard/bench/page"
)

// packages lists the packages that the figures measure.
var packages = []string{"quality", "auction", "bench/clicks", "internal/corpus"}

func median(list []float64) float64 {
	_, m, _ := measure.Rounds(list)
	return m
}

// percent formats the median of shares as a percentage, with the extremes if there are
// several.
func percent(list []float64) string {
	least, m, most := measure.Rounds(list)
	if len(list) == 1 {
		return fmt.Sprintf("%.1f %%", 100*m)
	}
	return fmt.Sprintf("%.1f %% (%.1f to %.1f)", 100*m, 100*least, 100*most)
}

// findings returns the results, one sentence each.
func (p *Plan) findings() []string {
	all, last := p.spans()[0], p.spans()[4]
	lost := func(name string, s span) float64 { return 100 * (1 - median(p.shares(p.of(name), s, value))) }
	out := []string{
		fmt.Sprintf("Learned qualities lose %.1f %% of the value of known click rates over all days and %.1f %% in the last week; given ones %.1f %% and %.1f %%, all the same %.1f %%, random ones %.1f %%.",
			lost(learned, all), lost(learned, last), lost("given", all), lost("given", last), lost("all the same", all), lost("random", all)),
		fmt.Sprintf("Rounding to ten steps alone costs known rates %.1f %%; without it what is learned loses %.1f %% over all days.",
			lost("known, ten steps", all), lost("learned, unrounded", all)),
		fmt.Sprintf("Over all days, without a bound above the mean it loses %.1f %%, without groups and campaigns %.1f %%, without positions %.1f %%, without decay %.1f %% (in the last week %.1f %%).",
			lost("learned, mean", all), lost("learned, flat", all), lost("learned, positions ignored", all), lost("learned, nothing forgotten", all), lost("learned, nothing forgotten", last)),
	}
	if day := p.passes(p.of(learned), p.of("given")); day >= 0 {
		out = append(out, fmt.Sprintf("From day %d on, learned qualities are worth more than given ones, on the median of %d runs.", day+1, p.Runs))
	} else {
		out = append(out, "Learned qualities are not worth more than given ones at the end.")
	}
	return out
}

// passes returns the day from which a policy is worth more than another until the
// rates change, or -1 if there is no such day.
func (p *Plan) passes(policy, other int) int {
	for day := p.changeDay() - 1; day >= 0; day-- {
		s := span{first: day, last: day + 1}
		if median(p.shares(policy, s, value)) <= median(p.shares(other, s, value)) {
			if day+1 == p.changeDay() {
				return -1
			}
			return day + 1
		}
	}
	return 0
}

// WritePage writes what Run found as one HTML page; `about` gives the date, the
// machine and the like.
func (p *Plan) WritePage(w io.Writer, r *measure.Report, about []string) error {
	out := &page.Page{
		Title: "Learned quality: what clicks teach an auction",
		Lead: fmt.Sprintf("Simulated users with known click rates ask the queries of a corpus; the auction is the product's. %d days of %s queries, %d runs with users of their own; lines are medians. On day %d the rates of %.0f %% of the groups become other ones.",
			p.Days, measure.Number(float64(p.Queries)), p.Runs, p.changeDay()+1, 100*p.Users.Changed),
		Verdict:  p.findings(),
		Made:     []page.Made{{Command: r.Command, Commit: r.Commit, Packages: packages, About: about}},
		Notes:    r.Notes[:1],
		Sections: []page.Section{p.lostSection(), p.partsSection(), p.examinationSection()},
		Terms:    p.terms(),
	}
	return out.Write(w)
}

func (p *Plan) terms() (list []page.Term) {
	list = append(list, page.Term{Word: "value", Means: "Bids times the true probability of a click, of all that is shown; revenue is the same with prices."})
	for i := range p.compared {
		list = append(list, page.Term{Word: p.compared[i].name, Means: p.compared[i].about + "."})
	}
	return list
}

// lostSection compares learned qualities with others.
func (p *Plan) lostSection() page.Section {
	names := []string{learned, "known, ten steps", "given", "all the same", "random"}
	s := page.Section{Title: "Learned, given, random",
		Charts: []template.HTML{
			p.daily("value lost beside known rates, %", names, value),
			p.summed("lost so far, in days of known rates", names),
			p.daily("revenue less than with known rates, %", []string{learned, "given", "all the same"}, revenue),
		}}
	table := &page.Table{Header: []string{"qualities"}}
	for _, span := range p.spans() {
		table.Header = append(table.Header, "value: "+span.name)
	}
	table.Header = append(table.Header, "revenue: all days", "lost in all, days of known rates")
	var rows [][]page.Cell
	for i := range p.compared {
		cells := []string{p.compared[i].name}
		for _, span := range p.spans() {
			cells = append(cells, percent(p.shares(i, span, value)))
		}
		least, m, most := measure.Rounds(p.regret(i, p.Days-1))
		cells = append(cells, percent(p.shares(i, p.spans()[0], revenue)), fmt.Sprintf("%.2f (%.2f to %.2f)", m, least, most))
		rows = append(rows, page.Cells(cells...))
	}
	table.Groups = []page.Group{{Rows: rows}}
	table.Note = "As a part of known rates; medians, and the extremes of runs."
	s.Tables = []*page.Table{table}
	return s
}

// partsSection compares the learner with learners that lack one part each.
func (p *Plan) partsSection() page.Section {
	names := []string{learned}
	for i := range p.compared {
		if n := p.compared[i].name; len(n) > len(learned) && n[:len(learned)] == learned {
			names = append(names, n)
		}
	}
	bars := chart.Bars{Title: "value lost over all days, %", Unit: "%"}
	for _, n := range names {
		least, m, most := measure.Rounds(p.shares(p.of(n), p.spans()[0], value))
		bars.Bars = append(bars.Bars, chart.Bar{Name: n, Label: fmt.Sprintf("%.2f %%", 100*(1-m)), Value: 100 * (1 - m), Least: 100 * (1 - most), Most: 100 * (1 - least)})
	}
	return page.Section{Title: "What each part of learning is worth", Charts: []template.HTML{
		page.Chart(bars.SVG()), p.daily("value lost beside known rates, %", names, value),
	}}
}

// examinationSection shows what was learned about positions, and how many qualities
// change.
func (p *Plan) examinationSection() page.Section {
	var rows [][]page.Cell
	for at, e := range p.Users.Examination {
		least, m, most := measure.Rounds(p.examined(at))
		rows = append(rows, page.Cells(fmt.Sprintf("%d", at+1), fmt.Sprintf("%.2f", e), fmt.Sprintf("%.3f (%.3f to %.3f)", m, least, most)))
	}
	positions := &page.Table{Title: "How often positions are looked at", Header: []string{"position", "true", "learned in the end"}, Groups: []page.Group{{Rows: rows}}}
	rows = nil
	for _, s := range p.spans() {
		rows = append(rows, page.Cells(s.name, percent(p.changes(p.of(learned), s))))
	}
	changes := &page.Table{Title: "Keywords whose quality changes a day", Note: "Of those that compete for a query; each is a change that goes through the feed.",
		Header: []string{"days", "of the keywords"}, Groups: []page.Group{{Rows: rows}}}
	return page.Section{Title: "Positions, and changes", Tables: []*page.Table{positions, changes}}
}

// daily draws, for each day, how much less policies are worth than known rates, in
// percent.
func (p *Plan) daily(title string, names []string, of func(worth) float64) template.HTML {
	return p.lines(title, names, func(policy, day int) float64 {
		return max(0, 100*(1-median(p.shares(policy, span{first: day, last: day + 1}, of))))
	})
}

// summed draws the cumulative loss.
func (p *Plan) summed(title string, names []string) template.HTML {
	return p.lines(title, names, func(policy, day int) float64 { return max(0, median(p.regret(policy, day))) })
}

func (p *Plan) lines(title string, names []string, y func(policy, day int) float64) template.HTML {
	c := chart.Chart{Title: title, XLabel: "day", Width: 560, Height: 300}
	if p.Users.Changed > 0 {
		c.Marks = []float64{float64(p.changeDay()) + 0.5}
	}
	for _, n := range names {
		l := chart.Line{Name: n}
		for day := range p.Days {
			l.X, l.Y = append(l.X, float64(day+1)), append(l.Y, y(p.of(n), day))
		}
		c.Lines = append(c.Lines, l)
	}
	return page.Chart(c.SVG())
}
