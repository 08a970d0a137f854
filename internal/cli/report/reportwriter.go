package report

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"

	eventreport "adshard/events/report"
	"adshard/events/store"
	"adshard/internal/cli/cmdline"
	"adshard/internal/cli/terminal"
	"adshard/internal/money"
)

// mostReported is the most lines of a report as text.
const mostReported = 50

// reportWriter writes the lines of a report, in one of three forms.
type reportWriter struct {
	f    *reportFlags
	q    store.Query
	out  io.Writer
	err  io.Writer
	csv  *csv.Writer
	json *json.Encoder
	// most has the lines with the largest spend, in order, for text. sum is the sum of all lines.
	most  []eventreport.Line
	lines uint64
	sum   store.Sum
}

func newReportWriter(s cmdline.Streams, f *reportFlags, q store.Query) *reportWriter {
	w := &reportWriter{f: f, q: q, out: s.Out, err: s.Err}
	switch {
	case f.csv:
		w.csv = csv.NewWriter(s.Out)
		_ = w.csv.Write(w.head()) // Flush returns the error
	case f.json:
		w.json = json.NewEncoder(s.Out)
		w.json.SetEscapeHTML(false)
	}
	return w
}

// line takes the next line.
func (w *reportWriter) line(l *eventreport.Line) error {
	w.lines++
	w.sum.Impressions, w.sum.Clicks, w.sum.Spend = w.sum.Impressions+l.Impressions, w.sum.Clicks+l.Clicks, w.sum.Spend+l.Spend
	switch {
	case w.csv != nil:
		return w.csv.Write(w.cells(l))
	case w.json != nil:
		return w.json.Encode(map[string]any{"line": w.object(l)})
	}
	at, _ := slices.BinarySearchFunc(w.most, l, func(a eventreport.Line, b *eventreport.Line) int { return byWeight(&a, b) })
	if at < mostReported {
		w.most = slices.Insert(w.most, at, *l)
		w.most = w.most[:min(len(w.most), mostReported)]
	}
	return nil
}

// byWeight orders lines by descending spend, then clicks, then impressions, and otherwise keeps their order.
func byWeight(a, b *eventreport.Line) int {
	return cmp.Or(cmp.Compare(b.Spend, a.Spend), cmp.Compare(b.Clicks, a.Clicks), cmp.Compare(b.Impressions, a.Impressions), -1)
}

// end writes what comes after the lines.
func (w *reportWriter) end(damaged int) error {
	if damaged > 0 {
		fmt.Fprintf(w.err, "%s damaged in the database, whose names are missing: `adshard db check` lists them\n", entities(damaged))
	}
	switch {
	case w.csv != nil:
		w.csv.Flush()
		return w.csv.Error()
	case w.json != nil:
		return w.json.Encode(map[string]any{"sum": sumJSON{
			Lines: w.lines, Impressions: w.sum.Impressions, Clicks: w.sum.Clicks, Rate: clickRate(w.sum), SpendMicros: w.sum.Spend}})
	}
	return w.text()
}

func entities(n int) string {
	if n == 1 {
		return "1 entity is"
	}
	return terminal.Grouped(uint64(n)) + " entities are"
}

// text writes the largest lines as a table, and the sum.
func (w *reportWriter) text() error {
	var head []string
	if w.q.Daily {
		head = append(head, "DAY")
	}
	head = append(head, "ADVERTISER", "CAMPAIGN")
	switch w.q.By {
	case store.ByCampaign:
	case store.ByKeyword:
		head = append(head, "KEYWORD", "TYPE")
	case store.ByQuery:
		head = append(head, "QUERY", "QUERIES")
	}
	t := terminal.NewTable(w.out, append(head, "IMPRESSIONS", "CLICKS", "CLICK RATE", "SPEND")...)
	for i := range w.most {
		t.Row(append(w.about(&w.most[i]), numbers(w.most[i].Sum)...)...)
	}
	t.Row(append(append([]string{"all " + terminal.Many(w.lines, "line")}, make([]string, len(head)-1)...), numbers(w.sum)...)...)
	err := t.Flush()
	if more := w.lines - uint64(len(w.most)); err == nil && more > 0 {
		_, err = fmt.Fprintf(w.out, "%s with less spend; --csv and --json show them\n", terminal.Many(more, "more line"))
	}
	return err
}

// about returns the cells of text that say what a line is about.
func (w *reportWriter) about(l *eventreport.Line) (cells []string) {
	const most = 40
	if w.q.Daily {
		cells = append(cells, dayText(l.Day))
	}
	cells = append(cells, terminal.Cut(nameOr(l.AdvertiserName, "advertiser", l.Advertiser), most), terminal.Cut(nameOr(l.CampaignName, "campaign", l.Campaign), most))
	switch w.q.By {
	case store.ByCampaign:
	case store.ByKeyword:
		cells = append(cells, terminal.Cut(nameOr(l.Text, "keyword", l.Keyword), most), l.MatchType)
	case store.ByQuery:
		cells = append(cells, terminal.Cut(queryText(l), most), queries(l))
	}
	return cells
}

// nameOr returns a name, or a text that replaces a missing name.
func nameOr(name, what string, id uint64) string {
	switch {
	case name != "":
		return name
	case id == 0:
		return "(unknown)"
	}
	return fmt.Sprintf("(%s %d, removed)", what, id)
}

func queryText(l *eventreport.Line) string {
	switch {
	case l.Words != "":
		return l.Words
	case l.Queries > 0:
		return "(others)"
	}
	return "(no longer kept)"
}

// queries returns the number of queries that a line stands for, or "" if it is not known.
func queries(l *eventreport.Line) string {
	if l.Queries == 0 {
		return ""
	}
	return strconv.FormatUint(l.Queries, 10)
}

func numbers(s store.Sum) []string {
	r := "–"
	if s.Impressions > 0 {
		r = strconv.FormatFloat(100*float64(s.Clicks)/float64(s.Impressions), 'f', 2, 64) + " %"
	}
	return []string{terminal.Grouped(s.Impressions), terminal.Grouped(s.Clicks), r, money.Format(s.Spend)}
}

// clickRate returns the click rate of a sum, or nil if there are no impressions.
func clickRate(s store.Sum) *float64 {
	if s.Impressions == 0 {
		return nil
	}
	r := float64(s.Clicks) / float64(s.Impressions)
	return &r
}
