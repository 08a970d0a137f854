package cli

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"adshard/internal/node/httpapi/api"
)

func slavesCommand(s Streams) *cobra.Command {
	c := group(&cobra.Command{
		Use:   "slaves",
		Short: "Show the slaves of a running cluster",
		Long:  `Shows the slaves of a running cluster, by its admin port.`,
	})
	c.AddCommand(slavesListCommand(s))
	return c
}

func slavesListCommand(s Streams) *cobra.Command {
	var addr string
	var asJSON bool
	c := &cobra.Command{
		Use:   "list",
		Short: "List the slaves, what they hold and how they do",
		Long: `Lists the slaves, what they hold and how they do. BEHIND is how many changes of the
database a slave has still to apply.`,
		Example: `  adshard slaves list
  adshard slaves list --addr http://10.0.0.5:8081 --json`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runSlavesList(c.Context(), addr, asJSON, s) },
	}
	c.Flags().StringVar(&addr, "addr", defaultAdmin, "the admin address of the balancer, or of adshard up")
	c.Flags().BoolVar(&asJSON, "json", false, "show the answer as the server gave it")
	return c
}

func runSlavesList(ctx context.Context, addr string, asJSON bool, s Streams) error {
	const most = 10 * time.Second
	c, err := newClient(addr, most)
	if err != nil {
		return err
	}
	defer c.close()
	body, err := c.get(ctx, "/v1/slaves", nil)
	if err != nil {
		return err
	}
	if asJSON {
		_, err := s.Out.Write(body)
		return err
	}
	var list api.SlaveList
	if err := c.decode(body, &list); err != nil {
		return err
	}
	t := newTable(s.Out, "SLAVE", "ADDRESS", "STATE", "SLICES", "SHARE", "GROUPS", "KEYWORDS", "DISK", "BEHIND", "TROUBLE")
	for i := range list.Slaves {
		v := &list.Slaves[i]
		t.row(v.Name, v.Address, state(v), strconv.Itoa(v.Slices), fmt.Sprintf("%.1f %%", float64(v.SharePermille)/10),
			strconv.FormatUint(v.Groups, 10), strconv.FormatUint(v.Keywords, 10), size(v.Bytes),
			strconv.FormatUint(list.Clock-min(v.AppliedClock, list.Clock), 10), v.Trouble)
	}
	if err := t.flush(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.Out, "view %d, clock %d, balancer's epoch %d\n", list.View, list.Clock, list.Epoch)
	return err
}

func state(v *api.Slave) string {
	switch {
	case !v.Alive:
		return "away"
	case v.Serving:
		return "serving"
	}
	return "filling"
}
