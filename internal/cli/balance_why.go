package cli

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"adshard/internal/node/httpapi/api"
)

func balanceWhyCommand(s Streams) *cobra.Command {
	var f adminFlags
	c := &cobra.Command{
		Use:   "why SLICE",
		Short: "Explain why a slice is where it is",
		Long: `Explains the placement of a slice: where it is, its load, what was decided and why,
where else it could go, and what would have to change for it to move.`,
		Example: `  adshard balance why 7`,
		Args:    oneSlice,
		RunE: func(c *cobra.Command, args []string) error {
			return show(c.Context(), &f, s, "/v1/balance/why/"+args[0], nil, func(v *api.SliceStory) error { return showStory(s, v) })
		},
	}
	f.add(c)
	return c
}

// oneSlice accepts the number of a slice and nothing else.
func oneSlice(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return wrongUse("name one slice; `adshard balance slices` lists them")
	}
	return sliceNumber(args[0])
}

func sliceNumber(text string) error {
	if n, err := strconv.ParseUint(text, 10, 63); err != nil || n == 0 || text != strconv.FormatUint(n, 10) {
		return wrongUse("%q is not a slice: give its number; `adshard balance slices` lists them", text)
	}
	return nil
}

// verdicts are headings, by verdict.
var verdicts = map[api.SliceVerdict]string{
	api.SliceVerdictMoving: "It is moving", api.SliceVerdictMoved: "It was moved here",
	api.SliceVerdictStayed: "It stayed where it is", api.SliceVerdictStuck: "It cannot be relieved",
	api.SliceVerdictAway: "It is not served",
}

func showStory(s Streams, v *api.SliceStory) error {
	fmt.Fprintf(s.Out, "Slice %d is on %s since view %d: %s of weight %s, keys %s to %s.\n",
		v.Slice, printable(v.Slave), v.FromView, many(v.Items, "ad group"), grouped(v.Weight), v.Lo, v.Hi)
	unit := "a second"
	if !v.Measured {
		unit = "by weight, since no load is measured yet"
	}
	fmt.Fprintf(s.Out, "Its load is %s %s: %s of the load of %s, %s of all. %s has %.2f x the mean (the maximum is %.2f x, the best possible %.2f x).\n",
		loaded(v.Load), unit, percent(v.ShareOfSlave), printable(v.Slave), percent(v.ShareOfAll), printable(v.Slave),
		v.SlaveOverMean, v.MaxOverMean, v.LowerBound)
	fmt.Fprintf(s.Out, "\n%s: %s.\n", verdicts[v.Verdict], printable(v.Decision))
	if m := v.Move; m != nil {
		fmt.Fprintf(s.Out, "  from %s to %s, %s, for %s", printable(m.From), printable(m.To), phase(m), lasting(m.AgeMs))
		if m.WaitsFor != "" {
			fmt.Fprintf(s.Out, "; %s", printable(m.WaitsFor))
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
			events[i].Slice = 0 // all are this one's
		}
		return showEvents(s, events)
	}
	return nil
}

func showList(s Streams, head string, list []string) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(s.Out, "\n%s:\n", head)
	for _, text := range list {
		fmt.Fprintf(s.Out, "  %s\n", printable(text))
	}
}

func showHot(s Streams, hot []api.HotItem) error {
	if len(hot) == 0 {
		return nil
	}
	fmt.Fprint(s.Out, "\nIts most loaded ad groups:\n")
	t := newTable(s.Out, "  KEY", "LOAD/S", "OF THE SLICE", "ID", "AD GROUP")
	for _, h := range hot {
		t.row("  "+h.Key, loaded(h.Load), percent(h.Share), fmt.Sprint(h.GroupID), groupOf(h))
	}
	return t.flush()
}

// groupOf names an ad group by what it belongs to; "": its names are not known.
func groupOf(h api.HotItem) string {
	if h.Group == "" {
		return ""
	}
	return printable(h.Advertiser + " / " + h.Campaign + " / " + h.Group)
}

func showTargets(s Streams, targets []api.Target) error {
	if len(targets) == 0 {
		return nil
	}
	fmt.Fprint(s.Out, "\nWhere else it could go:\n")
	t := newTable(s.Out, "  SLAVE", "OF MEAN WITH IT", "")
	for _, v := range targets[:min(mostListed, len(targets))] {
		why := v.Why
		if !v.May {
			why = "no: " + why
		}
		t.row("  "+v.Slave, fmt.Sprintf("%.2f", v.OverMean), why)
	}
	if err := t.flush(); err != nil {
		return err
	}
	showMore(s, "  ", len(targets), "slave")
	return nil
}
