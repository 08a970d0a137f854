package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"adshard/internal/node/httpapi/api"
)

func balanceCommand(s Streams) *cobra.Command {
	c := group(&cobra.Command{
		Use:   "balance",
		Short: "See and steer how ad groups move between slaves",
		Long: `Shows how even the load is, what moves and why, and tells the balancer what to do,
by its admin port. Answers to queries are the same whatever is moved.`,
		Example: `  adshard balance status --watch     how even the load is, and what moves
  adshard balance why 7              why slice 7 is where it is
  adshard balance plan               what would be done now`,
	})
	c.AddCommand(
		balanceStatusCommand(s), balanceSlicesCommand(s), balancePlanCommand(s), balanceWhyCommand(s),
		balanceMoveCommand(s), balanceStrategyCommand(s),
		balancePauseCommand(s, "pause", "Stop balancing; moves under way end",
			`Stops balancing: no strategy decides any more, lost slaves are not emptied. Moves under
way end, and move and drain still work.`, "balancing is paused; `adshard balance resume` goes on"),
		balancePauseCommand(s, "resume", "Go on balancing", "Goes on with balancing after a pause.", "balancing goes on"),
	)
	return c
}

func balancePauseCommand(s Streams, name, short, long, done string) *cobra.Command {
	var f adminFlags
	c := &cobra.Command{
		Use: name, Short: short, Long: long, Example: "  adshard balance " + name, Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return tell(c.Context(), &f, s, "/v1/balance/"+name, nil, func(*api.Paused) error {
				_, err := fmt.Fprintln(s.Out, done)
				return err
			})
		},
	}
	f.add(c)
	return c
}
