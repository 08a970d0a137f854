package cluster

import (
	"fmt"

	"github.com/spf13/cobra"

	"adshard/internal/cli/apiclient"
	"adshard/internal/cli/cmdline"
	"adshard/internal/node/httpapi/api"
)

// BalanceCommand shows and controls how slices move between slaves.
func BalanceCommand(s cmdline.Streams) *cobra.Command {
	c := cmdline.Group(&cobra.Command{
		Use:   "balance",
		Short: "See and steer how ad groups move between slaves",
		Long: `Shows how evenly the load is spread, what is moving and why, and controls the
balancer through its admin port. Moves never change the answers to queries.`,
		Example: `  adshard balance status --watch     how evenly the load is spread, and what is moving
  adshard balance why 7              why slice 7 is where it is
  adshard balance plan               what would be done now`,
	})
	c.AddCommand(
		balanceStatusCommand(s), balanceSlicesCommand(s), balancePlanCommand(s), balanceWhyCommand(s),
		balanceMoveCommand(s), balanceStrategyCommand(s),
		balanceReplicasCommand(s),
		balancePauseCommand(s, "pause", "Stop balancing; moves under way finish",
			`Stops balancing: the strategy is not asked any more, and lost slaves are not
evacuated. Moves under way finish; "balance move" and "slaves drain" still work. Use
it while you change the cluster by hand.`, "balancing is paused; `adshard balance resume` resumes it"),
		balancePauseCommand(s, "resume", "Resume balancing", "Resumes balancing after a pause.", "balancing is resumed"),
	)
	return c
}

func balancePauseCommand(s cmdline.Streams, name, short, long, done string) *cobra.Command {
	var f apiclient.AdminFlags
	c := &cobra.Command{
		Use: name, Short: short, Long: long, Example: "  adshard balance " + name, Args: cmdline.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return apiclient.Send(c.Context(), &f, s, "/v1/balance/"+name, nil, func(*api.Paused) error {
				_, err := fmt.Fprintln(s.Out, done)
				return err
			})
		},
	}
	f.Add(c)
	return c
}
