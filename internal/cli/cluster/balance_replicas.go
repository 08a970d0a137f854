package cluster

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"adshard/balance"
	"adshard/internal/cli/apiclient"
	"adshard/internal/cli/cmdline"
	"adshard/internal/cli/terminal"
	"adshard/internal/node/httpapi/api"
)

func balanceReplicasCommand(s cmdline.Streams) *cobra.Command {
	var f apiclient.AdminFlags
	c := &cobra.Command{
		Use:   "replicas N",
		Short: "Set how many slaves hold each slice",
		Long: `Sets how many slaves hold each slice, while queries are answered. With more
replicas, slaves without a shard are filled first; when there are none, shards are emptied
one after another, and their slaves become replicas of the others. With fewer, slaves
become free and form new shards. The number outlives a restart of the balancer, unless
its configuration then has a different one than before: change it there as well.`,
		Example: `  adshard balance replicas 2
  adshard slaves list --watch     how far it is`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				if n, err := strconv.Atoi(args[0]); err == nil && n >= 1 && n <= balance.MaxReplicas {
					return nil
				}
			}
			return cmdline.WrongUse("give a number from 1 to %d, as in `adshard balance replicas 2`", balance.MaxReplicas)
		},
		RunE: func(c *cobra.Command, args []string) error {
			n, _ := strconv.Atoi(args[0])
			return apiclient.Send(c.Context(), &f, s, "/v1/balance/replicas", api.Replicas{Replicas: n}, func(v *api.Replicas) error {
				_, err := fmt.Fprintf(s.Out, "each slice is to be held by %s; `adshard slaves list --watch` shows the progress\n", terminal.Many(uint64(v.Replicas), "slave"))
				return err
			})
		},
	}
	f.Add(c)
	return c
}
