package cli

import (
	"context"
	"io"

	"github.com/spf13/cobra"
)

// Streams are what a command reads and writes.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Main runs a program with arguments (without its name) and returns its exit
// status: 0 done, 1 failed, 2 wrong use, 3 done with rejects. The program is
// "adshard", "master", "slave", "balancer" or "distributor"; the last four are
// also hidden commands of the first.
func Main(ctx context.Context, program string, args []string, s Streams) int {
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
	default:
		root = adshard(s)
	}
	return execute(ctx, root, args, s)
}

func adshard(s Streams) *cobra.Command {
	root := group(&cobra.Command{
		Use:   "adshard",
		Short: "Serve ads by keywords from one machine or many",
		Long: `adshard serves ads by keywords: data go in by files, queries come in by HTTP,
and the ads that match come out, auctioned and priced.`,
		Example: `  adshard import --db sqlite:ads.db export.csv     take in a Google Ads Editor file
  adshard up --db sqlite:ads.db                    start a whole cluster here
  adshard query usb cable                          ask it
  adshard query --explain usb cable                ask why
  adshard balance status                           see how even the load is
  adshard db check --db sqlite:ads.db              check the database for damage`,
	})
	root.AddCommand(
		importCommand(s), barrelsCommand(s), upCommand(s), queryCommand(s), balanceCommand(s), slavesCommand(s),
		dbCommand(s), lexiconCommand(s), versionCommand(s), hidden(masterCommand(s)), hidden(slaveCommand(s)), hidden(balancerCommand(s)),
		hidden(distributorCommand(s)),
	)
	return root
}

// hidden keeps a command out of the help: `up --processes` starts them.
func hidden(c *cobra.Command) *cobra.Command {
	c.Hidden = true
	return c
}

// group makes a command that only holds others: without one of them it shows
// its help and is wrong use.
func group(c *cobra.Command) *cobra.Command {
	c.Args = cobra.ArbitraryArgs
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return wrongUse("there is no command %q; `%s --help` lists them", args[0], c.CommandPath())
		}
		c.SetOut(c.ErrOrStderr())
		_ = c.Help()
		return wrongUse("name a command")
	}
	return c
}
