package setup

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"adshard/internal/cli/terminal"
	"adshard/internal/sizing"
)

// mostCheaper is the most cheaper grids that are shown.
const mostCheaper = 6

// showSize shows the grid for one need, and what cheaper grids lack.
func showSize(out io.Writer, figures *sizing.Figures, n *sizing.Need, p *sizing.Plan) error {
	g := &p.Best
	fmt.Fprintf(out, "%s, %s queries/s, p99 %s; machines of %s, %s\n\n", terminal.Many(n.Keywords, "keyword"), rate(n.QPS),
		terminal.Millis(float64(n.P99.Microseconds())), terminal.Many(uint64(n.Cores), "core"), terminal.Size(n.Memory))
	fmt.Fprintf(out, "%s x %s = %s, each with a slave and a master\n\n", terminal.Many(uint64(g.Shards), "shard"), terminal.Many(uint64(g.Replicas), "replica"), terminal.Many(uint64(g.Machines), "machine"))
	t := terminal.NewTable(out, "", "ALL UP", "ONE DOWN")
	t.Row("busiest machine", terminal.Percent(g.Busy), terminal.Percent(g.BusyDown))
	t.Row("p99", terminal.Millis(g.P99), terminal.Millis(g.P99Down))
	t.Row("queries/s, at most", "", rate(g.Most))
	if err := t.Flush(); err != nil {
		return err
	}
	held := "all in memory"
	if !g.AllInMemory {
		held = fmt.Sprintf("%.0f bytes of memory for each; what is not in memory is read from files, which makes searches slower", g.Bytes)
	}
	fmt.Fprintf(out, "\n%s a slave, %s\n", terminal.Many(uint64(g.Keywords), "keyword"), held)
	if err := showCheaper(out, figures, n, p); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "\n%s", source(figures, g.Keywords))
	return err
}

// showCheaper shows what the next cheaper grids lack.
func showCheaper(out io.Writer, figures *sizing.Figures, n *sizing.Need, p *sizing.Plan) error {
	if len(p.Cheaper) == 0 {
		return nil
	}
	fmt.Fprint(out, "\nCheaper grids lack:\n")
	t := terminal.NewTable(out, "SHARDS", "REPLICAS", "MACHINES", "LACK")
	for i := range p.Cheaper[:min(mostCheaper, len(p.Cheaper))] {
		g := &p.Cheaper[i]
		t.Row(strconv.Itoa(g.Shards), strconv.Itoa(g.Replicas), strconv.Itoa(g.Machines), lack(figures, n, g))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if more := len(p.Cheaper) - mostCheaper; more > 0 {
		fmt.Fprintf(out, "and %s; --json shows them\n", terminal.Many(uint64(more), "more grid"))
	}
	return nil
}

// lack returns what a grid lacks, as text.
func lack(figures *sizing.Figures, n *sizing.Need, g *sizing.Grid) string {
	switch g.Limit {
	case sizing.OfMemory:
		return fmt.Sprintf("memory: %.0f bytes for each of %s a slave, at least %.0f are needed", g.Bytes, terminal.Many(uint64(g.Keywords), "keyword"), figures.Memory[0].Bytes)
	case sizing.OfReplicas:
		return "replicas: with one machine down a shard would be missing"
	case sizing.OfCores:
		return fmt.Sprintf("cores: with one machine down it answers %s queries/s", rate(g.Most))
	case sizing.OfTime:
		if g.P99Down == 0 {
			return "time: queries would queue without end"
		}
		return fmt.Sprintf("time: with one machine down p99 is %s, wanted %s", terminal.Millis(g.P99Down), terminal.Millis(float64(n.P99.Microseconds())))
	}
	return "nothing"
}

// showSizes shows a table of the grids for several needs.
func showSizes(out io.Writer, figures *sizing.Figures, needs []sizing.Need, plans []*sizing.Plan, faults []error) error {
	n := &needs[0]
	fmt.Fprintf(out, "p99 %s; machines of %s, %s\n\n", terminal.Millis(float64(n.P99.Microseconds())), terminal.Many(uint64(n.Cores), "core"), terminal.Size(n.Memory))
	t := terminal.NewTable(out, "KEYWORDS", "QUERIES/S", "SHARDS", "REPLICAS", "MACHINES", "IN MEMORY", "BUSY*", "P99*", "THE NEXT CHEAPER LACKS")
	most := 0.0
	for i := range needs {
		row := []string{terminal.Grouped(needs[i].Keywords), rate(needs[i].QPS)}
		if p := plans[i]; p != nil {
			g := &p.Best
			most = max(most, g.Keywords)
			row = append(row, strconv.Itoa(g.Shards), strconv.Itoa(g.Replicas), strconv.Itoa(g.Machines),
				held(g), terminal.Percent(g.BusyDown), terminal.Millis(g.P99Down), lacks(p.Cheaper))
		} else {
			row = append(row, "-", "-", "-", "-", "-", "-", faults[i].Error())
		}
		t.Row(row...)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "\n* with one machine down\n%s", source(figures, most))
	return err
}

// held returns how much of a slave's data is in memory: all of it, or how many bytes per keyword.
func held(g *sizing.Grid) string {
	if g.AllInMemory {
		return "all"
	}
	return fmt.Sprintf("%.0f B/keyword", g.Bytes)
}

// lacks returns what the largest of the cheaper grids lack.
func lacks(cheaper []sizing.Grid) string {
	var list []string
	for i := range cheaper {
		g := &cheaper[i]
		if g.Machines == cheaper[0].Machines {
			list = append(list, fmt.Sprintf("%dx%d: %s", g.Shards, g.Replicas, g.Limit))
		}
	}
	if len(list) > 3 {
		list = append(list[:3], "…")
	}
	return strings.Join(list, ", ")
}

// source returns where the figures come from, and which of them are extrapolated.
func source(f *sizing.Figures, keywords float64) string {
	text := fmt.Sprintf("Figures: %s, commit %s, %s.\n", terminal.Printable(f.Machine), terminal.Printable(f.Commit), terminal.Printable(f.Date))
	if last := f.Searches[len(f.Searches)-1].Keywords; keywords > last {
		text += fmt.Sprintf("Searches were measured up to %s a slave; what more take is extrapolated.\n", terminal.Many(uint64(last), "keyword"))
	}
	return text
}

// rate returns queries a second as text.
func rate(x float64) string {
	if x < 100 {
		return strconv.FormatFloat(x, 'g', 3, 64)
	}
	return terminal.Grouped(uint64(x))
}
