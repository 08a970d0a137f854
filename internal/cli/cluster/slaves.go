package cluster

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"adshard/internal/cli/apiclient"
	"adshard/internal/cli/cmdline"
	"adshard/internal/cli/terminal"
	"adshard/internal/node/httpapi/api"
)

// SlavesCommand returns the commands that list, add, drain and remove slaves.
func SlavesCommand(s cmdline.Streams) *cobra.Command {
	c := cmdline.Group(&cobra.Command{
		Use:   "slaves",
		Short: "List, add, drain and remove the slaves of a running cluster",
		Long: `Lists, adds, drains and removes the slaves of a running cluster, through the
balancer's admin port.`,
		Example: `  adshard slaves list --watch
  adshard slaves add 10.0.0.9:7100
  adshard slaves drain slave-2
  adshard slaves remove slave-2`,
	})
	c.AddCommand(slavesListCommand(s), slavesAddCommand(s), slavesDrainCommand(s), slavesRemoveCommand(s))
	return c
}

func slavesListCommand(s cmdline.Streams) *cobra.Command {
	var f apiclient.AdminFlags
	var again bool
	c := &cobra.Command{
		Use:   "list",
		Short: "List the slaves with their data, load and state",
		Long: `Lists the slaves with their data, load and state.

SLICES has in brackets how many arrive (+) and leave (-). SHARE is the share of the
ring's keys that the slave serves: not of the load, and not of the groups. OF MEAN is
the slave's load over the mean of all slaves; the line in the bar is the mean. BEHIND
is how many changes of the database it still has to apply. TROUBLE says why it makes
no progress, or which part it does not serve.`,
		Example: `  adshard slaves list
  adshard slaves list --watch
  adshard slaves list --addr http://10.0.0.5:7001 --json`,
		Args: cmdline.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			frame := func(ctx context.Context, s cmdline.Streams) error {
				return apiclient.Show(ctx, &f, s, "/v1/slaves", nil, func(v *api.SlaveList) error { return showSlaves(s, v) })
			}
			if !again {
				return frame(c.Context(), s)
			}
			return terminal.Watch(c.Context(), s, terminal.WatchEvery, frame, func(ctx context.Context, s cmdline.Streams) error {
				return apiclient.Show(ctx, &f, s, "/v1/slaves", nil, func(v *api.SlaveList) error { return slavesLine(s, v) })
			})
		},
	}
	f.Add(c)
	c.Flags().BoolVar(&again, "watch", false, "refresh every second; without a terminal, print one line each time")
	return c
}

func showSlaves(s cmdline.Streams, list *api.SlaveList) error {
	columns := []string{"SLAVE", "ADDRESS", "STATE", "SLICES", "SHARE", "OF MEAN", "", "GROUPS", "KEYWORDS", "DISK", "BEHIND", "TROUBLE"}
	shards := slices.ContainsFunc(list.Slaves, func(v api.Slave) bool { return v.Shard != "" && v.Shard != v.Name })
	if shards {
		columns = slices.Insert(columns, 1, "SHARD")
	}
	t := terminal.NewTable(s.Out, columns...)
	t.NoWrap(slices.Index(columns, "")) // bars
	var spare []int
	for _, c := range []string{"", "TROUBLE", "ADDRESS", "GROUPS", "DISK"} {
		spare = append(spare, slices.Index(columns, c))
	}
	t.MayLeave(spare...)
	for i := range list.Slaves {
		v := &list.Slaves[i]
		cells := []string{v.Name, v.Address, state(v), slicesOf(v), fmt.Sprintf("%.1f %%", float64(v.SharePermille)/10),
			fmt.Sprintf("%.2f", v.OverMean), terminal.Bar(v.OverMean), strconv.FormatUint(v.Groups, 10), strconv.FormatUint(v.Keywords, 10),
			terminal.Size(v.Bytes), strconv.FormatUint(list.Clock-min(v.AppliedClock, list.Clock), 10), cmp.Or(v.Trouble, v.WaitsFor)}
		if shards {
			cells = slices.Insert(cells, 1, cmp.Or(v.Shard, "spare"))
		}
		t.Row(cells...)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, r := range list.Refused {
		fmt.Fprintf(s.Out, "refused: %s at %s: %s\n", terminal.Printable(cmp.Or(r.Name, "somebody")), terminal.Printable(r.Address), terminal.Printable(r.Why))
	}
	_, err := fmt.Fprintf(s.Out, "view %d, clock %d, balancer's epoch %d\n", list.View, list.Clock, list.Epoch)
	return err
}

func slavesLine(s cmdline.Streams, list *api.SlaveList) error {
	fmt.Fprintf(s.Out, "view %d:", list.View)
	for i := range list.Slaves {
		v := &list.Slaves[i]
		fmt.Fprintf(s.Out, " %s %s %s", terminal.Printable(v.Name), state(v), slicesOf(v))
		if i+1 < len(list.Slaves) {
			fmt.Fprint(s.Out, ",")
		}
	}
	_, err := fmt.Fprintln(s.Out)
	return err
}

// slicesOf returns as text how many slices a slave has, and how many are moving in and out.
func slicesOf(v *api.Slave) string {
	text := strconv.Itoa(v.Slices)
	if v.MovingIn+v.MovingOut > 0 {
		text += fmt.Sprintf(" (+%d -%d)", v.MovingIn, v.MovingOut)
	}
	return text
}

func state(v *api.Slave) string {
	switch {
	case v.State == api.SlaveStateDrained:
		return "drained"
	case !v.Alive:
		return "away"
	case v.State == api.SlaveStateDraining:
		return "draining"
	case v.Serving:
		return "serving"
	}
	return "filling"
}
