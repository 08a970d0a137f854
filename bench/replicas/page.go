package replicas

import (
	"fmt"
	"html/template"
	"io"
	"strings"

	"adshard/bench/chart"
	"adshard/bench/measure"
	"adshard/bench/page"
)

// packages lists the packages that the figures measure.
var packages = []string{"barrels", "internal/node/fanout", "search"}

// WritePage writes what Run has added to a report as one HTML page; `about` gives the
// date, the machine and the like.
func (p *Plan) WritePage(w io.Writer, report *measure.Report, about []string) error {
	f := found{report}
	out := &page.Page{
		Title: "Which replica is asked: topics, hedges, two at random",
		Lead: fmt.Sprintf("%d replicas of one shard in one process, %s queries in random order. No network: a call is a search.",
			p.Replicas, measure.Number(float64(len(p.Queries)))),
		Made:  []page.Made{{Command: report.Command, Commit: report.Commit, Packages: packages, About: about}},
		Notes: report.Notes, Terms: terms,
	}
	for _, part := range p.Parts {
		out.Verdict = append(out.Verdict, f.topicVerdict(part))
	}
	for _, t := range troubles[1:] {
		out.Verdict = append(out.Verdict, f.slowVerdict(&t))
	}
	out.Sections = append(out.Sections, p.topicSection(f))
	for _, t := range troubles {
		out.Sections = append(out.Sections, p.slowSection(f, &t))
	}
	return out.Write(w)
}

var terms = []page.Term{
	{Word: inTurn, Means: "Round robin: one replica after the other."},
	{Word: twoRandom, Means: "Of two replicas drawn at random the one is asked that has less to do: calls under way × the time that each takes."},
	{Word: byTopic, Means: "The replica is asked that the rarest known term of the query prefers, unless it has much more to do than the least loaded."},
	{Word: withHedges, Means: "By topic; if a call takes longer than 95 % of the calls do, a second replica is asked as well, for 5 % of the calls at most."},
	{Word: "first pass", Means: "All queries asked once with empty caches."},
}

// found gives access to the figures of a report.
type found struct{ *measure.Report }

func (f found) value(name string) float64 {
	v, _ := f.Find(name)
	return v.Value
}

// topicVerdict says how much topics reduce reading.
func (f found) topicVerdict(part float64) string {
	without, with := f.value(name(part, twoRandom, "lists read")), f.value(name(part, byTopic, "lists read"))
	said := fmt.Sprintf("Caches of %g of the lists: %s lists read a query by topic, %s with two at random", part, measure.Number(with), measure.Number(without))
	if without > 0.001 {
		said += fmt.Sprintf(", %.0f %% less", 100*(1-with/without))
	}
	first, firstWithout := f.value(name(part, byTopic, "lists read, first pass")), f.value(name(part, twoRandom, "lists read, first pass"))
	return said + fmt.Sprintf("; in the first pass, %s and %s.", measure.Number(first), measure.Number(firstWithout))
}

// slowVerdict compares the ways of asking.
func (f found) slowVerdict(t *trouble) string {
	var said []string
	for _, way := range t.ways {
		n := t.name + ", " + way + ": "
		said = append(said, fmt.Sprintf("%s p99 %s ms, p99.9 %s ms (%.3f calls a query)", way,
			measure.Number(f.value(n+"p99")/1000), measure.Number(f.value(n+"p99.9")/1000), f.value(n+"calls")))
	}
	return strings.ToUpper(t.name[:1]) + t.name[1:] + ": " + strings.Join(said, "; ") + "."
}

// topicSection returns the section on what is read, and on latencies, by size of the
// caches.
func (p *Plan) topicSection(f found) page.Section {
	s := page.Section{Title: "Topics", Note: "Posting lists read since the cache of the replica that was asked has them not."}
	table := &page.Table{Header: []string{"asked", "lists read a query", "bytes read a query", "first pass: lists", "busiest replica: share of calls", "p50 µs", "p99 µs", "p99.9 µs"}}
	for _, part := range p.Parts {
		bars := chart.Bars{Title: fmt.Sprintf("Caches of %g of the lists", part), Unit: "lists read a query"}
		group := page.Group{Name: fmt.Sprintf("caches of %g of the lists", part)}
		for _, way := range []string{twoRandom, byTopic} {
			lists, _ := f.Find(name(part, way, "lists read"))
			bar := chart.Bar{Name: way, Value: lists.Value, Label: measure.Number(lists.Value)}
			if lists.Least != nil {
				bar.Least, bar.Most = *lists.Least, *lists.Most
			}
			bars.Bars = append(bars.Bars, bar)
			cells := []string{way}
			for _, q := range []string{"lists read", "bytes read", "lists read, first pass", "calls at the busiest replica", "p50", "p99", "p99.9"} {
				cells = append(cells, measure.Number(f.value(name(part, way, q))))
			}
			group.Rows = append(group.Rows, page.Cells(cells...))
		}
		table.Groups = append(table.Groups, group)
		s.Charts = append(s.Charts, page.Chart(bars.SVG()), f.distribution(fmt.Sprintf("Latency, caches of %g", part), []string{twoRandom, byTopic},
			func(way string) string { return name(part, way, "") }))
	}
	s.Tables = []*page.Table{table}
	return s
}

// slowSection returns the section on the latencies with one kind of slowness.
func (p *Plan) slowSection(f found, t *trouble) page.Section {
	s := page.Section{Title: strings.ToUpper(t.name[:1]) + t.name[1:], Note: fmt.Sprintf("%g queries a second at random times; everything is in memory. Slow searches take %v longer.", p.Rate, p.Longer)}
	header, rows := []string{"asked", "calls a query", "calls at the first replica"}, [][]page.Cell{}
	for _, l := range levels {
		header = append(header, l.name+" µs")
	}
	prefix := func(way string) string { return t.name + ", " + way + ": " }
	for _, way := range t.ways {
		cells := []string{way, fmt.Sprintf("%.3f", f.value(prefix(way)+"calls")), fmt.Sprintf("%.1f %%", 100*f.value(prefix(way)+"calls at the first replica"))}
		for _, l := range levels {
			cells = append(cells, measure.Number(f.value(prefix(way)+l.name)))
		}
		rows = append(rows, page.Cells(cells...))
	}
	s.Tables = []*page.Table{{Header: header, Groups: []page.Group{{Rows: rows}}}}
	s.Charts = []template.HTML{f.distribution("Latency", t.ways, prefix)}
	return s
}

// distribution draws quantiles of latencies.
func (f found) distribution(title string, ways []string, prefix func(way string) string) template.HTML {
	c := chart.Chart{Title: title + ", µs, by percentile", XLabel: "percentile"}
	for _, l := range levels {
		c.Steps = append(c.Steps, 100*l.at)
	}
	for _, way := range ways {
		line := chart.Line{Name: way, X: c.Steps}
		for _, l := range levels {
			line.Y = append(line.Y, f.value(prefix(way)+l.name))
		}
		c.Lines = append(c.Lines, line)
	}
	return page.Chart(c.SVG())
}
