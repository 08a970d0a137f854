package cli

import (
	"fmt"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"

	"adshard/internal/node/httpapi/api"
)

func balanceSlicesCommand(s Streams) *cobra.Command {
	var f adminFlags
	c := &cobra.Command{
		Use:   "slices",
		Short: "List the slices, most loaded first",
		Long: `Lists the slices, most loaded first: their keys, slave, content and load. HOT is the
number of ad groups whose own load is measured. Use it to find the slices that keep a
slave busy; "adshard balance why SLICE" explains one of them.`,
		Example: `  adshard balance slices
  adshard balance slices --slave slave-2 --limit 1000`,
		Args: noArgs,
	}
	slave := c.Flags().String("slave", "", "list only the slices of this slave")
	limit := c.Flags().Int("limit", 20, "the most slices to list")
	c.RunE = func(c *cobra.Command, _ []string) error {
		q := url.Values{"limit": {strconv.Itoa(*limit)}}
		if *slave != "" {
			q.Set("slave", *slave)
		}
		return show(c.Context(), &f, s, "/v1/balance/slices", q, func(v *api.SliceList) error { return showSlices(s, v) })
	}
	f.add(c)
	return c
}

func showSlices(s Streams, v *api.SliceList) error {
	head := "LOAD/S"
	if !v.Measured {
		head = "WEIGHT"
	}
	t := newTable(s.Out, "SLICE", "KEYS", "SLAVE", "AD GROUPS", head, "OF ALL", "HOT", "")
	for i := range v.Slices {
		n := &v.Slices[i]
		to := ""
		if n.To != "" {
			to = "goes to " + n.To
		}
		t.row(strconv.FormatUint(n.Slice, 10), n.Lo+"-"+n.Hi, n.Slave, grouped(n.Items), loaded(n.Load), percent(n.Share), strconv.Itoa(n.Hot), to)
	}
	if err := t.flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(s.Out, "%d of %s, view %d; `adshard balance why SLICE` explains one\n", len(v.Slices), many(uint64(v.Total), "slice"), v.View)
	return err
}

func balancePlanCommand(s Streams) *cobra.Command {
	var f adminFlags
	c := &cobra.Command{
		Use:   "plan",
		Short: "Show what would be done now, without doing it",
		Long: `Asks the strategy what it would do now and shows its proposal with reasons, the best
that any placement could reach, and what the other strategies would do. Nothing is
changed.`,
		Example: `  adshard balance plan
  adshard balance plan --json | jq '.operations[].why'`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return show(c.Context(), &f, s, "/v1/balance/plan", nil, func(v *api.BalancePlan) error { return showPlan(s, v) })
		},
	}
	f.add(c)
	return c
}

func showPlan(s Streams, v *api.BalancePlan) error {
	fmt.Fprintf(s.Out, "%s proposes %s: %s, %s, %s of all weight.\n", printable(v.Strategy),
		many(uint64(len(v.Operations)), "operation"), many(uint64(v.Moves), "move"), many(v.Items, "ad group"), percent(v.Share))
	if v.Refused != "" {
		fmt.Fprintf(s.Out, "The balancer would refuse it: %s.\n", printable(v.Refused))
	}
	showBound(s, v.Before, v.LowerBound, v.BoundWhy, v.LeastMove)
	if !v.Measured {
		fmt.Fprintln(s.Out, "No load is measured yet; the weights of ad groups are used instead.")
	}
	if len(v.Operations) > 0 {
		fmt.Fprintln(s.Out)
		t := newTable(s.Out, "DO", "SLICE", "FROM", "TO", "AD GROUPS", "LOAD/S", "WHY")
		for i := range v.Operations[:min(mostListed, len(v.Operations))] {
			o := &v.Operations[i]
			t.row(string(o.Kind), strconv.FormatUint(o.Slice, 10), o.From, goal(o), grouped(o.Items), loaded(o.Load), o.Why)
		}
		if err := t.flush(); err != nil {
			return err
		}
		showMore(s, "", len(v.Operations), "operation")
	}
	if len(v.Left) > 0 {
		fmt.Fprint(s.Out, "\nLeft as it is:\n")
		for _, l := range v.Left[:min(mostListed, len(v.Left))] {
			slice := ""
			if l.Slice != 0 {
				slice = fmt.Sprintf("slice %d: ", l.Slice)
			}
			fmt.Fprintf(s.Out, "  %s%s\n", slice, printable(l.Why))
		}
		showMore(s, "  ", len(v.Left), "reason")
	}
	fmt.Fprint(s.Out, "\nmax/mean that each strategy would reach:\n")
	all := []api.Prediction{{Strategy: v.Strategy, MaxOverMean: v.After, Moves: v.Moves, Items: v.Items, Weight: v.Weight, Share: v.Share, Failed: v.Refused}}
	return showPredictions(s, append(all, v.Shadows...))
}

// goal describes the target of an operation.
func goal(o *api.PlannedOperation) string {
	switch o.Kind {
	case api.OperationKindSplit:
		return fmt.Sprintf("%d and %d at %s", o.Slice, o.New, o.At)
	case api.OperationKindMerge:
		return fmt.Sprintf("with slice %d", o.New)
	}
	return o.To
}

func showPredictions(s Streams, list []api.Prediction) error {
	t := newTable(s.Out, "STRATEGY", "MAX/MEAN", "MOVES", "AD GROUPS", "OF WEIGHT", "")
	for _, p := range list {
		t.row(p.Strategy, fmt.Sprintf("%.2f", p.MaxOverMean), strconv.Itoa(p.Moves), grouped(p.Items), percent(p.Share), p.Failed)
	}
	return t.flush()
}
