package cli

import (
	"context"

	"github.com/spf13/cobra"

	"adshard/internal/cli/cluster"
	"adshard/internal/cli/cmdline"
	"adshard/internal/cli/db"
	"adshard/internal/cli/report"
	"adshard/internal/cli/role/balancer"
	"adshard/internal/cli/role/collector"
	"adshard/internal/cli/role/distributor"
	"adshard/internal/cli/role/master"
	"adshard/internal/cli/role/slave"
	"adshard/internal/cli/role/up"
	"adshard/internal/cli/setup"
)

// Streams are the inputs and outputs of a command.
type Streams = cmdline.Streams

// Main runs a program with arguments (without its name) and returns its exit status, as cmdline.Main does. The
// program is "adshard", "master", "slave", "balancer", "distributor" or "collector". The others are also commands of
// adshard.
func Main(ctx context.Context, program string, args []string, s Streams) int {
	var root *cobra.Command
	switch program {
	case "master":
		root = master.Command(s)
	case "slave":
		root = slave.Command(s)
	case "balancer":
		root = balancer.Command(s)
	case "distributor":
		root = distributor.Command(s)
	case "collector":
		root = collector.Command(s)
	default:
		root = adshard(s)
	}
	return cmdline.Main(ctx, root, args, s)
}

func adshard(s Streams) *cobra.Command {
	root := cmdline.Group(&cobra.Command{
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
		db.ImportCommand(s), db.LocationsCommand(s), db.BlocklistCommand(s), up.Barrels(s), up.Command(s), cluster.QueryCommand(s), cluster.BalanceCommand(s), cluster.SlavesCommand(s), cluster.DoctorCommand(s),
		cluster.ListCommand(s), cluster.GetCommand(s), cluster.SetCommand(s), cluster.PauseCommand(s), cluster.ResumeCommand(s), cluster.ExportCommand(s),
		collector.Command(s), db.DBCommand(s), db.BackupCommand(s), db.RestoreCommand(s), setup.CertCommand(s), setup.LexiconCommand(s), report.QualityCommand(s),
		report.ReportCommand(s), report.EventsCommand(s), setup.SizeCommand(s), cmdline.VersionCommand(s),
		hidden(master.Command(s)), hidden(slave.Command(s)), hidden(balancer.Command(s)),
		hidden(distributor.Command(s)),
	)
	return root
}

// hidden hides a command that `up --processes` starts from the help.
func hidden(c *cobra.Command) *cobra.Command {
	c.Hidden = true
	return c
}
