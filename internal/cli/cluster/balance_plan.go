package cluster

import (
	"fmt"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"

	"adshard/internal/cli/apiclient"
	"adshard/internal/cli/cmdline"
	"adshard/internal/cli/terminal"
	"adshard/internal/node/httpapi/api"
)

func balanceSlicesCommand(s cmdline.Streams) *cobra.Command {
	var f apiclient.AdminFlags
	c := &cobra.Command{
		Use:   "slices",
		Short: "List the slices, most loaded first",
		Long: `Lists the slices, most loaded first: their keys, slave, content and load. HOT is the
number of ad groups whose own load is measured. Use it to find the slices that keep a
slave busy; "adshard balance why SLICE" explains one of them.`,
		Example: `  adshard balance slices
  adshard balance slices --slave slave-2 --limit 1000`,
		Args: cmdline.NoArgs,
	}
	slave := c.Flags().String("slave", "", "list only the slices of this slave")
	limit := c.Flags().Int("limit", 20, "the most slices to list")
	c.RunE = func(c *cobra.Command, _ []string) error {
		q := url.Values{"limit": {strconv.Itoa(*limit)}}
		if *slave != "" {
			q.Set("slave", *slave)
		}
		return apiclient.Show(c.Context(), &f, s, "/v1/balance/slices", q, func(v *api.SliceList) error { return showSlices(s, v) })
	}
	f.Add(c)
	return c
}

func showSlices(s cmdline.Streams, v *api.SliceList) error {
	head := "LOAD/S"
	if !v.Measured {
		head = "WEIGHT"
	}
	t := terminal.NewTable(s.Out, "SLICE", "KEYS", "SLAVE", "AD GROUPS", head, "OF ALL", "HOT", "")
	for i := range v.Slices {
		n := &v.Slices[i]
		to := ""
		if n.To != "" {
			to = "goes to " + n.To
		}
		t.Row(strconv.FormatUint(n.Slice, 10), n.Lo+"-"+n.Hi, n.Slave, terminal.Grouped(n.Items), terminal.Loaded(n.Load), terminal.Percent(n.Share), strconv.Itoa(n.Hot), to)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(s.Out, "%d of %s, view %d; `adshard balance why SLICE` explains one\n", len(v.Slices), terminal.Many(uint64(v.Total), "slice"), v.View)
	return err
}

func balancePlanCommand(s cmdline.Streams) *cobra.Command {
	var f apiclient.AdminFlags
	c := &cobra.Command{
		Use:   "plan",
		Short: "Show what would be done now, without doing it",
		Long: `Asks the strategy what it would do now and shows its proposal with reasons, the best
that any placement could reach, and what the other strategies would do. Nothing is
changed.`,
		Example: `  adshard balance plan
  adshard balance plan --json | jq '.operations[].why'`,
		Args: cmdline.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return apiclient.Show(c.Context(), &f, s, "/v1/balance/plan", nil, func(v *api.BalancePlan) error { return showPlan(s, v) })
		},
	}
	f.Add(c)
	return c
}

func showPlan(s cmdline.Streams, v *api.BalancePlan) error {
	fmt.Fprintf(s.Out, "%s proposes %s: %s, %s, %s of all weight.\n", terminal.Printable(v.Strategy),
		terminal.Many(uint64(len(v.Operations)), "operation"), terminal.Many(uint64(v.Moves), "move"), terminal.Many(v.Items, "ad group"), terminal.Percent(v.Share))
	if v.Refused != "" {
		fmt.Fprintf(s.Out, "The balancer would refuse it: %s.\n", terminal.Printable(v.Refused))
	}
	showBound(s, v.Before, v.LowerBound, v.BoundWhy, v.LeastMove)
	if !v.Measured {
		fmt.Fprintln(s.Out, "No load is measured yet; the weights of ad groups are used instead.")
	}
	if len(v.Operations) > 0 {
		fmt.Fprintln(s.Out)
		t := terminal.NewTable(s.Out, "DO", "SLICE", "FROM", "TO", "AD GROUPS", "LOAD/S", "WHY")
		for i := range v.Operations[:min(terminal.MostListed, len(v.Operations))] {
			o := &v.Operations[i]
			t.Row(string(o.Kind), strconv.FormatUint(o.Slice, 10), o.From, goal(o), terminal.Grouped(o.Items), terminal.Loaded(o.Load), o.Why)
		}
		if err := t.Flush(); err != nil {
			return err
		}
		terminal.ShowMore(s, "", len(v.Operations), "operation")
	}
	if len(v.Left) > 0 {
		fmt.Fprint(s.Out, "\nLeft as it is:\n")
		for _, l := range v.Left[:min(terminal.MostListed, len(v.Left))] {
			slice := ""
			if l.Slice != 0 {
				slice = fmt.Sprintf("slice %d: ", l.Slice)
			}
			fmt.Fprintf(s.Out, "  %s%s\n", slice, terminal.Printable(l.Why))
		}
		terminal.ShowMore(s, "  ", len(v.Left), "reason")
	}
	fmt.Fprint(s.Out, "\nmax/mean that each strategy would reach:\n")
	all := []api.Prediction{{Strategy: v.Strategy, MaxOverMean: v.After, Moves: v.Moves, Items: v.Items, Weight: v.Weight, Share: v.Share, Failed: v.Refused}}
	return showPredictions(s, append(all, v.Shadows...))
}

// goal returns the target of an operation.
func goal(o *api.PlannedOperation) string {
	switch o.Kind {
	case api.OperationKindSplit:
		return fmt.Sprintf("%d and %d at %s", o.Slice, o.New, o.At)
	case api.OperationKindMerge:
		return fmt.Sprintf("with slice %d", o.New)
	}
	return o.To
}

func showPredictions(s cmdline.Streams, list []api.Prediction) error {
	t := terminal.NewTable(s.Out, "STRATEGY", "MAX/MEAN", "MOVES", "AD GROUPS", "OF WEIGHT", "")
	for _, p := range list {
		t.Row(p.Strategy, fmt.Sprintf("%.2f", p.MaxOverMean), strconv.Itoa(p.Moves), terminal.Grouped(p.Items), terminal.Percent(p.Share), p.Failed)
	}
	return t.Flush()
}
