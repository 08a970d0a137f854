package cluster

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"adshard/internal/cli/apiclient"
	"adshard/internal/cli/cmdline"
	"adshard/internal/cli/terminal"
	"adshard/internal/node/httpapi/api"
)

func balanceStatusCommand(s cmdline.Streams) *cobra.Command {
	var f apiclient.AdminFlags
	var again bool
	c := &cobra.Command{
		Use:   "status",
		Short: "Show how evenly the load is spread, what is moving and why",
		Long: `Shows how evenly the load is spread, what is moving and the last decisions. OF MEAN is
a slave's load over the mean of all, each divided by the slave's share; the line in
the bar is the mean. A moving slice counts at its target. While no load is measured,
the weights of ad groups are used instead.`,
		Example: `  adshard balance status
  adshard balance status --watch
  adshard balance status --json | jq .max_over_mean`,
		Args: cmdline.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			frame := func(ctx context.Context, s cmdline.Streams) error {
				return apiclient.Show(ctx, &f, s, "/v1/balance", nil, func(v *api.BalanceStatus) error { return showStatus(s, v) })
			}
			if !again {
				return frame(c.Context(), s)
			}
			return terminal.Watch(c.Context(), s, terminal.WatchEvery, frame, func(ctx context.Context, s cmdline.Streams) error {
				return apiclient.Show(ctx, &f, s, "/v1/balance", nil, func(v *api.BalanceStatus) error { return statusLine(s, v) })
			})
		},
	}
	f.Add(c)
	c.Flags().BoolVar(&again, "watch", false, "refresh every second; without a terminal, print one line each time")
	return c
}

func statusLine(s cmdline.Streams, v *api.BalanceStatus) error {
	paused := ""
	if v.Paused {
		paused = ", paused"
	}
	if v.Idle {
		paused += ", idle"
	}
	_, err := fmt.Fprintf(s.Out, "view %d, %s%s: max/mean %.2f, bound %.2f, %s moving, %s and %s moved\n", v.View,
		terminal.Printable(v.Strategy), paused, v.MaxOverMean, v.LowerBound, terminal.Many(uint64(len(v.MovesInFlight)), "slice"),
		terminal.Many(v.Moved.Items, "ad group"), terminal.Size(v.Moved.Bytes))
	return err
}

func showStatus(s cmdline.Streams, v *api.BalanceStatus) error {
	showHead(s, v)
	if err := showLoads(s, v); err != nil {
		return err
	}
	fmt.Fprintf(s.Out, "\nMoved since the balancer started: %s, %s, %s; %d cancelled.\n",
		terminal.Many(v.Moved.Moves, "slice"), terminal.Many(v.Moved.Items, "ad group"), terminal.Size(v.Moved.Bytes), v.Moved.Cancelled)
	if err := showMoves(s, v.MovesInFlight); err != nil {
		return err
	}
	showCopies(s, v.Copies)
	showIteration(s, v.Last)
	if len(v.Shadows) > 0 {
		fmt.Fprint(s.Out, "\nOther strategies would now reach:\n")
		if err := showPredictions(s, v.Shadows); err != nil {
			return err
		}
	}
	if len(v.Events) > 0 {
		const most = 10
		fmt.Fprint(s.Out, "\nLately:\n")
		if err := showEvents(s, v.Events[:min(most, len(v.Events))]); err != nil {
			return err
		}
	}
	return showOthers(s, v)
}

func showHead(s cmdline.Streams, v *api.BalanceStatus) {
	state := ""
	if v.Paused {
		state = "; PAUSED, `adshard balance resume` resumes it"
	}
	fmt.Fprintf(s.Out, "Strategy %s%s%s\n", terminal.Printable(v.Strategy), setOptions(v.Options), state)
	fmt.Fprintf(s.Out, "%s in %s, view %d", terminal.Many(v.Items, "ad group"), terminal.Many(uint64(v.Slices), "slice"), v.View)
	if v.PublishedView != v.View {
		fmt.Fprintf(s.Out, " (masters have %d)", v.PublishedView)
	}
	fmt.Fprintf(s.Out, ", epoch %d\n", v.Epoch)
	if replicated(v) {
		fmt.Fprintf(s.Out, "%s of each slice, revision %d\n", terminal.Many(uint64(v.Replicas), "replica"), v.Revision)
	}
	if v.Waiting != "" {
		fmt.Fprintf(s.Out, "There is no plan yet: %s.\n", terminal.Printable(v.Waiting))
	}
	showBound(s, v.MaxOverMean, v.LowerBound, v.BoundWhy, v.LeastMove)
	if v.Idle {
		fmt.Fprintln(s.Out, "Idle: queries have stopped, so there is no load to balance; nothing moves until they resume.")
	}
	showScrub(s, &v.Scrub)
	if !v.Measured {
		fmt.Fprintln(s.Out, "No load is measured yet; the weights of ad groups are used instead.")
	}
}

// showCopies shows the slaves that are being filled with copies.
func showCopies(s cmdline.Streams, list []api.Copy) {
	for i, c := range list {
		if i == 0 {
			fmt.Fprintln(s.Out)
		}
		fmt.Fprintf(s.Out, "%s copies the store of %s", terminal.Printable(c.Slave), terminal.Printable(c.Source))
		if c.Total > 0 {
			fmt.Fprintf(s.Out, ": %s of %s, %s/s", terminal.Size(c.Bytes), terminal.Size(c.Total), terminal.Size(c.PerSecond))
		}
		if c.LeftMs > 0 {
			fmt.Fprintf(s.Out, ", %s left", terminal.Lasting(c.LeftMs))
		}
		fmt.Fprintln(s.Out)
	}
}

// showScrub shows how far slices have been compared with the database, and the differences found.
func showScrub(s cmdline.Streams, v *api.Scrub) {
	var parts []string
	if v.IntervalMs == 0 {
		parts = append(parts, "off")
	}
	if v.Running {
		parts = append(parts, terminal.Percent(v.Progress)+" of a pass done")
	}
	if v.Passes > 0 {
		last := fmt.Sprintf("last pass ended %s: %s compared, %s", terminal.Ago(v.Last.AgeMs), terminal.Many(v.Last.Items, "ad group"), terminal.Many(v.Last.Different, "difference"))
		if v.Last.Left > 0 {
			last += fmt.Sprintf(", %s left out", terminal.Many(v.Last.Left, "part"))
		}
		parts = append(parts, last)
	}
	if v.Unlike != "" {
		parts = append(parts, terminal.Printable(v.Unlike)+" has data built by another version, which cannot be compared")
	}
	if len(parts) > 0 {
		fmt.Fprintf(s.Out, "Scrub: %s\n", strings.Join(parts, "; "))
	}
	for _, r := range v.Rechecks {
		fmt.Fprintf(s.Out, "Scrub: the store of %s was not closed; %d of its %s are compared\n", terminal.Printable(r.Slave), r.Compared, terminal.Many(uint64(r.Slices), "slice"))
	}
	for _, c := range v.Condemned {
		fmt.Fprintf(s.Out, "DIFFERENT: %s must discard slice %d: %s\n", terminal.Printable(c.Slave), c.Slice, terminal.Printable(c.Reason))
	}
}

// showBound shows how far the present placement is from the best possible one.
func showBound(s cmdline.Streams, now, bound float64, why string, least api.LeastMove) {
	fmt.Fprintf(s.Out, "max/mean %.2f; the best possible is %.2f", now, bound)
	if why != "" {
		fmt.Fprintf(s.Out, " (%s)", terminal.Printable(why))
	}
	if least.Weight > 0 {
		fmt.Fprintf(s.Out, "; at least %s of all weight must move", terminal.Percent(least.Share))
	}
	fmt.Fprintln(s.Out)
}

func setOptions(options map[string]string) string {
	if len(options) == 0 {
		return ""
	}
	var list []string
	for _, name := range slices.Sorted(maps.Keys(options)) {
		list = append(list, name+"="+options[name])
	}
	return terminal.Printable(" (" + strings.Join(list, ", ") + ")")
}

func showLoads(s cmdline.Streams, v *api.BalanceStatus) error {
	if len(v.Slaves) == 0 {
		return nil
	}
	fmt.Fprintln(s.Out)
	head := "LOAD/S"
	if !v.Measured {
		head = "WEIGHT"
	}
	what, replicas := "SLAVE", replicated(v)
	if replicas {
		what = "SHARD"
	}
	columns := []string{what, "STATE", "SLICES", "AD GROUPS", head, "OF MEAN", ""}
	if replicas {
		columns = append(columns, "SLAVES")
	}
	t := terminal.NewTable(s.Out, columns...)
	t.NoWrap(slices.Index(columns, "")) // bars
	for _, n := range v.Slaves {
		state := string(n.State)
		if !n.Alive {
			state = "away"
		}
		cells := []string{n.Name, state, strconv.Itoa(n.Slices), terminal.Grouped(n.Items), terminal.Loaded(n.Load), fmt.Sprintf("%.2f", n.OverMean), terminal.Bar(n.OverMean)}
		if replicas {
			cells = append(cells, strings.Join(n.Replicas, ", "))
		}
		t.Row(cells...)
	}
	return t.Flush()
}

// replicated reports whether some shard has more than one slave or a name other than its slave's.
func replicated(v *api.BalanceStatus) bool {
	return v.Replicas > 1 || slices.ContainsFunc(v.Slaves, func(n api.SlaveLoad) bool {
		return len(n.Replicas) > 1 || len(n.Replicas) == 1 && n.Replicas[0] != n.Name
	})
}

func showMoves(s cmdline.Streams, moves []api.SliceMove) error {
	if len(moves) == 0 {
		return nil
	}
	fmt.Fprintf(s.Out, "\n%s moving:\n", terminal.Many(uint64(len(moves)), "slice"))
	t := terminal.NewTable(s.Out, "SLICE", "FROM", "TO", "PHASE", "AD GROUPS", "FOR", "WAITS FOR")
	for i := range moves[:min(terminal.MostListed, len(moves))] {
		m := &moves[i]
		t.Row(strconv.FormatUint(m.Slice, 10), m.From, m.To, phase(m), terminal.Grouped(m.Items), terminal.Lasting(m.AgeMs), m.WaitsFor)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	terminal.ShowMore(s, "", len(moves), "move")
	return nil
}

// phase returns the phase of a move as text.
func phase(m *api.SliceMove) string {
	if m.Phase == api.MovePhaseCopying && m.Certified > 0 {
		return fmt.Sprintf("comparing, %d of 64", m.Certified)
	}
	return string(m.Phase)
}

func showIteration(s cmdline.Streams, last *api.Iteration) {
	if last == nil {
		return
	}
	fmt.Fprintf(s.Out, "\nLast iteration %s: %s.\n", terminal.Ago(last.AgeMs), terminal.Many(uint64(last.Operations), "operation"))
	if last.Refused != "" {
		fmt.Fprintf(s.Out, "  refused: %s\n", terminal.Printable(last.Refused))
	}
	for _, reason := range last.Reasons[:min(terminal.MostListed, len(last.Reasons))] {
		fmt.Fprintf(s.Out, "  %s\n", terminal.Printable(reason))
	}
	terminal.ShowMore(s, "  ", len(last.Reasons), "reason")
}

func showEvents(s cmdline.Streams, events []api.Event) error {
	t := terminal.NewList(s.Out, 2)
	for _, e := range events {
		text := e.Text
		if e.Slice != 0 {
			text = fmt.Sprintf("slice %d: %s", e.Slice, text)
		}
		t.Row("  "+terminal.Ago(e.AgeMs), text)
	}
	return t.Flush()
}

// answering returns the query rate and times of a master as text, or "" if it has not reported any.
func answering(t *api.Traffic) string {
	if t == nil {
		return ""
	}
	out := fmt.Sprintf(", %s queries/s", terminal.Loaded(t.PerSecond))
	if t.P50Micros > 0 {
		out += fmt.Sprintf(", median %s, p99 %s", terminal.Millis(float64(t.P50Micros)), terminal.Millis(float64(t.P99Micros)))
	}
	for _, part := range []struct {
		share float64
		word  string
	}{{t.Incomplete, "incomplete"}, {t.Refused, "refused"}, {t.Failed, "failed"}} {
		if part.share > 0 {
			out += fmt.Sprintf(", %s %s", terminal.Percent(part.share), part.word)
		}
	}
	return out
}

// showOthers lists the distributors and masters.
func showOthers(s cmdline.Streams, v *api.BalanceStatus) error {
	if len(v.Distributors)+len(v.Masters) == 0 {
		return nil
	}
	fmt.Fprintln(s.Out)
	for _, d := range v.Distributors[:min(terminal.MostListed, len(v.Distributors))] {
		state := ""
		if !d.Alive {
			state = ", away"
		}
		fmt.Fprintf(s.Out, "distributor %s%s serves %s\n", terminal.Printable(d.Name), state, terminal.Printable(noneOr(d.Slaves)))
	}
	terminal.ShowMore(s, "", len(v.Distributors), "distributor")
	for _, m := range v.Masters[:min(terminal.MostListed, len(v.Masters))] {
		fmt.Fprintf(s.Out, "master %s uses view %d, seen %s%s\n", terminal.Printable(m.Name), m.View, terminal.Ago(m.SeenMs), answering(m.Traffic))
	}
	terminal.ShowMore(s, "", len(v.Masters), "master")
	var ignored uint64
	for _, n := range v.IgnoredLoads {
		ignored += n
	}
	if ignored > 0 {
		fmt.Fprintf(s.Out, "%s ignored; --json says why\n", terminal.Many(ignored, "load report"))
	}
	return nil
}

func noneOr(names []string) string {
	if len(names) == 0 {
		return "nobody"
	}
	return strings.Join(names, ", ")
}
