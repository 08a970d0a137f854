package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"adshard/internal/outfile"
)

// Streams are what a command reads and writes.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// warn tells the user something beside the output.
func (s Streams) warn(text string) { fmt.Fprintln(s.Err, text) }

// Main runs a program with arguments (without its name) and returns its exit
// status: 0 done, 1 failed, 2 invalid usage, 3 done with rejects. The program is
// "adshard", "master", "slave", "balancer", "distributor" or "collector"; the others are
// also commands of the first.
func Main(ctx context.Context, program string, args []string, s Streams) int {
	outfile.OwnerOnly()
	var root *cobra.Command
	switch program {
	case "master":
		root = masterCommand(s)
	case "slave":
		root = slaveCommand(s)
	case "balancer":
		root = balancerCommand(s)
	case "distributor":
		root = distributorCommand(s)
	case "collector":
		root = collectorCommand(s)
	default:
		root = adshard(s)
	}
	return execute(ctx, versioned(root), args, s)
}

func adshard(s Streams) *cobra.Command {
	root := group(&cobra.Command{
		Use:   "adshard",
		Short: "Serve ads by keywords on one machine or many",
		Long: `adshard serves ads by keywords: it imports advertisers' data from files, answers
queries over HTTP with the ads that match, and ranks and prices them in an auction.`,
		Example: `  adshard import --db sqlite:ads.db export.csv     import a Google Ads Editor file
  adshard up --db sqlite:ads.db                    run a whole cluster on this machine
  adshard query usb cable                          get the ads of a query
  adshard query --explain usb cable                see why each keyword won or lost
  adshard list campaigns                           see the data; get, set, pause, resume change it
  adshard balance status                           see how evenly the load is spread
  adshard doctor                                   see what is wrong with the cluster
  adshard report --db sqlite:ads.db --by campaign --since 2026-11-01
                                                   see clicks and spend
  adshard db check --db sqlite:ads.db              check the database for damage`,
	})
	root.AddCommand(
		importCommand(s), barrelsCommand(s), upCommand(s), queryCommand(s), balanceCommand(s), slavesCommand(s), doctorCommand(s),
		listCommand(s), getCommand(s), setCommand(s), pauseCommand(s), resumeCommand(s), exportCommand(s),
		collectorCommand(s), dbCommand(s), backupCommand(s), restoreCommand(s), certCommand(s), lexiconCommand(s), qualityCommand(s),
		reportCommand(s), eventsCommand(s), sizeCommand(s), versionCommand(s),
		hidden(masterCommand(s)), hidden(slaveCommand(s)), hidden(balancerCommand(s)),
		hidden(distributorCommand(s)),
	)
	return root
}

// hidden keeps a command that `up --processes` starts out of the help.
func hidden(c *cobra.Command) *cobra.Command {
	c.Hidden = true
	return c
}

// group makes a command that only has subcommands: without one it shows its help
// and is a usage error.
func group(c *cobra.Command) *cobra.Command {
	c.Args = cobra.ArbitraryArgs
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return noCommand(c, args[0])
		}
		c.SetOut(c.ErrOrStderr())
		_ = c.Help()
		return wrongUse("name a command")
	}
	return c
}
