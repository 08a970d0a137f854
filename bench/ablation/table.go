package ablation

import (
	"fmt"
	"io"
	"math"
	"strings"

	"adshard/bench/measure"
	"adshard/bench/paired"
)

// WriteMarkdown writes a table for each setup.
func (r *Result) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	for _, setup := range r.setups() {
		r.table(&b, setup)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// setups are those of the first turn of the product as it is.
func (r *Result) setups() (names []string) {
	if len(r.Turns[Full]) == 0 {
		return nil
	}
	for _, row := range r.Turns[Full][0].Rows {
		if row.Name == served {
			names = append(names, row.Setup)
		}
	}
	return names
}

const (
	served    = "served"
	servedTop = "served-top"
	floor     = "floor"
)

func (r *Result) table(b *strings.Builder, setup string) {
	full := r.rows(Full, setup, served)
	if len(full) == 0 {
		return
	}
	fmt.Fprintf(b, "## %s, %s keywords\n\n", setup, measure.Number(float64(full[0].Keywords)))
	b.WriteString("| | switched off | instead | served µs | times as long | p99 µs | served-top µs | times as long | p99 µs | bytes a keyword: memory | disk | matching |\n")
	b.WriteString("| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	r.line(b, &Idea{Name: Full, What: "nothing"}, setup)
	for i := range r.Ideas {
		r.line(b, &r.Ideas[i], setup)
	}
	least, median, most := measure.Rounds(each(r.rows(Full, setup, floor), micros))
	fmt.Fprintf(b, "\nThe floor in the processes of the full product: %s µs (%s–%s).", figure(median), figure(least), figure(most))
	for _, layout := range []string{served, servedTop} {
		least, median, most := measure.Rounds(each(r.rows(Full, setup, layout), func(row *paired.Row) float64 {
			return 1 / row.Ratios[floor].Median
		}))
		fmt.Fprintf(b, " %s takes %s times as long (%s–%s).", layout, figure(median), figure(least), figure(most))
	}
	b.WriteString("\n\n")
}

// line writes what a variant shows.
func (r *Result) line(b *strings.Builder, i *Idea, setup string) {
	fmt.Fprintf(b, "| %s | %s | %s |", i.Name, i.What, i.Instead)
	for _, layout := range []string{served, servedTop} {
		rows := r.rows(i.Name, setup, layout)
		_, took, _ := measure.Rounds(each(rows, micros))
		_, p99, _ := measure.Rounds(each(rows, func(row *paired.Row) float64 { return row.P99 }))
		fmt.Fprintf(b, " %s | %s | %s |", figure(took), r.times(i, setup, layout), figure(p99))
	}
	for _, of := range []func(*paired.Row) float64{
		func(row *paired.Row) float64 { return row.BytesPerKeyword.Memory },
		func(row *paired.Row) float64 { return row.BytesPerKeyword.Disk },
		func(row *paired.Row) float64 { return row.BytesPerKeyword.Matching },
	} {
		_, bytes, _ := measure.Rounds(each(r.rows(i.Name, setup, served), of))
		_, full, _ := measure.Rounds(each(r.rows(Full, setup, served), of))
		if i.Name != Full && math.Abs(bytes-full) < full/50 {
			b.WriteString(" |") // unchanged
			continue
		}
		fmt.Fprintf(b, " %.0f |", bytes)
	}
	b.WriteString("\n")
}

// times is how many times as long as the full product a variant takes, each
// measured by the floor beside it: the median of the rounds, with the extremes.
func (r *Result) times(i *Idea, setup, layout string) string {
	if i.Name == Full {
		return "1"
	}
	full, own := r.rows(Full, setup, layout), r.rows(i.Name, setup, layout)
	values := make([]float64, min(len(full), len(own)))
	for n := range values {
		values[n] = full[n].Ratios[floor].Median / own[n].Ratios[floor].Median
	}
	least, median, most := measure.Rounds(values)
	return fmt.Sprintf("%.2f (%.2f–%.2f)", median, least, most)
}

// rows are those of a layout on a setup, round after round.
func (r *Result) rows(variant, setup, layout string) (rows []*paired.Row) {
	for _, turn := range r.Turns[variant] {
		for i := range turn.Rows {
			if row := &turn.Rows[i]; row.Setup == setup && row.Name == layout {
				rows = append(rows, row)
			}
		}
	}
	return rows
}

// micros is how long a query takes on average.
func micros(row *paired.Row) float64 { return 1e6 / row.QueriesPerSecond }

func each(rows []*paired.Row, of func(*paired.Row) float64) []float64 {
	out := make([]float64, len(rows))
	for i, row := range rows {
		out[i] = of(row)
	}
	return out
}

// figure is a number with three digits that say something.
func figure(x float64) string {
	switch {
	case x >= 100:
		return fmt.Sprintf("%.0f", x)
	case x >= 10:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.2f", x)
}

// WriteMarkdown writes what pairs as anchors would change. most is that of
// CountPairs.
func (p *Pairs) WriteMarkdown(w io.Writer, setup string, keywords, most int) error {
	_, err := fmt.Fprintf(w, `### Pairs of words as anchors: %s

Counted, not built: keywords whose rarest word is the anchor of more than %s are anchored at their two
rarest words (%s of %s keywords would be). A query, on average:

| anchors | lookups | candidates | matches |
| --- | ---: | ---: | ---: |
| words | %s | %s | %s |
| words and pairs | %s | %s | %s |

`, setup, measure.Number(float64(most)), measure.Number(float64(p.Moved)), measure.Number(float64(keywords)),
		figure(p.Words.Lookups), figure(p.Words.Candidates), figure(p.Words.Matches),
		figure(p.WithPairs.Lookups), figure(p.WithPairs.Candidates), figure(p.WithPairs.Matches))
	return err
}
