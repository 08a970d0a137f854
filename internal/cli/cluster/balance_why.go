package cluster

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"adshard/internal/cli/apiclient"
	"adshard/internal/cli/cmdline"
	"adshard/internal/cli/terminal"
	"adshard/internal/node/httpapi/api"
)

func balanceWhyCommand(s cmdline.Streams) *cobra.Command {
	var f apiclient.AdminFlags
	c := &cobra.Command{
		Use:   "why SLICE",
		Short: "Explain why a slice is where it is",
		Long: `Explains the placement of a slice: where it is, its load, what was decided and why,
where else it could go, and what would have to change for it to move.`,
		Example: `  adshard balance why 7`,
		Args:    oneSlice,
		RunE: func(c *cobra.Command, args []string) error {
			return apiclient.Show(c.Context(), &f, s, "/v1/balance/why/"+args[0], nil, func(v *api.SliceStory) error { return showStory(s, v) })
		},
	}
	f.Add(c)
	return c
}

// oneSlice checks that the only argument is the number of a slice.
func oneSlice(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return cmdline.WrongUse("name one slice; `adshard balance slices` lists them")
	}
	return sliceNumber(args[0])
}

func sliceNumber(text string) error {
	if n, err := strconv.ParseUint(text, 10, 63); err != nil || n == 0 || text != strconv.FormatUint(n, 10) {
		return cmdline.WrongUse("%q is not a slice: give its number; `adshard balance slices` lists them", text)
	}
	return nil
}

// verdicts has headings by verdict.
var verdicts = map[api.SliceVerdict]string{
	api.SliceVerdictMoving: "It is moving", api.SliceVerdictMoved: "It was moved here",
	api.SliceVerdictStayed: "It stayed where it is", api.SliceVerdictStuck: "It cannot be relieved",
	api.SliceVerdictAway: "It is not served",
}

func showStory(s cmdline.Streams, v *api.SliceStory) error {
	fmt.Fprintf(s.Out, "Slice %d is on %s since view %d: %s of weight %s, keys %s to %s.\n",
		v.Slice, terminal.Printable(v.Slave), v.FromView, terminal.Many(v.Items, "ad group"), terminal.Grouped(v.Weight), v.Lo, v.Hi)
	unit := "a second"
	if !v.Measured {
		unit = "by weight, since no load is measured yet"
	}
	fmt.Fprintf(s.Out, "Its load is %s %s: %s of the load of %s, %s of all. %s has %.2f x the mean (the maximum is %.2f x, the best possible %.2f x).\n",
		terminal.Loaded(v.Load), unit, terminal.Percent(v.ShareOfSlave), terminal.Printable(v.Slave), terminal.Percent(v.ShareOfAll), terminal.Printable(v.Slave),
		v.SlaveOverMean, v.MaxOverMean, v.LowerBound)
	fmt.Fprintf(s.Out, "\n%s: %s.\n", verdicts[v.Verdict], terminal.Printable(v.Decision))
	if m := v.Move; m != nil {
		fmt.Fprintf(s.Out, "  from %s to %s, %s, for %s", terminal.Printable(m.From), terminal.Printable(m.To), phase(m), terminal.Lasting(m.AgeMs))
		if m.WaitsFor != "" {
			fmt.Fprintf(s.Out, "; %s", terminal.Printable(m.WaitsFor))
		}
		fmt.Fprintln(s.Out)
	}
	showList(s, "What the strategy said about it in its last iteration", v.Reasons)
	if err := showHot(s, v.Hot); err != nil {
		return err
	}
	if err := showTargets(s, v.Targets); err != nil {
		return err
	}
	showList(s, "What would have to change", v.Needs)
	if len(v.Events) > 0 {
		fmt.Fprint(s.Out, "\nIts history:\n")
		events := append([]api.Event(nil), v.Events...)
		for i := range events {
			events[i].Slice = 0 // all are events of this slice
		}
		return showEvents(s, events)
	}
	return nil
}

func showList(s cmdline.Streams, head string, list []string) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(s.Out, "\n%s:\n", head)
	for _, text := range list {
		fmt.Fprintf(s.Out, "  %s\n", terminal.Printable(text))
	}
}

func showHot(s cmdline.Streams, hot []api.HotItem) error {
	if len(hot) == 0 {
		return nil
	}
	fmt.Fprint(s.Out, "\nIts most loaded ad groups:\n")
	t := terminal.NewTable(s.Out, "  KEY", "LOAD/S", "OF THE SLICE", "ID", "AD GROUP")
	for _, h := range hot {
		t.Row("  "+h.Key, terminal.Loaded(h.Load), terminal.Percent(h.Share), fmt.Sprint(h.GroupID), groupOf(h))
	}
	return t.Flush()
}

// groupOf returns the name of an ad group with those of its owners, or "" if they are not known.
func groupOf(h api.HotItem) string {
	if h.Group == "" {
		return ""
	}
	return terminal.Printable(h.Advertiser + " / " + h.Campaign + " / " + h.Group)
}

func showTargets(s cmdline.Streams, targets []api.Target) error {
	if len(targets) == 0 {
		return nil
	}
	fmt.Fprint(s.Out, "\nWhere else it could go:\n")
	t := terminal.NewTable(s.Out, "  SLAVE", "OF MEAN WITH IT", "")
	for _, v := range targets[:min(terminal.MostListed, len(targets))] {
		why := v.Why
		if !v.May {
			why = "no: " + why
		}
		t.Row("  "+v.Slave, fmt.Sprintf("%.2f", v.OverMean), why)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	terminal.ShowMore(s, "  ", len(targets), "slave")
	return nil
}
