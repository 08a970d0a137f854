package distributor

import (
	"context"
	"io"
	"log/slog"

	"github.com/spf13/cobra"

	"adshard/internal/cli/cmdline"
	"adshard/internal/node/distributor"
)

// Command returns the program's command, which is a command of adshard, too.
func Command(s cmdline.Streams) *cobra.Command {
	c := distributor.DefaultConfig()
	return cmdline.Serve(&cobra.Command{
		Use:   "distributor --config FILE",
		Short: "Prepare data for slaves, in addition to the balancer",
		Long: `Runs a distributor: it reads the database, follows the balancer's decisions and
prepares data for the slaves that the balancer assigns to it. Run as many as you like
when preparing data is the bottleneck; each needs its own name.`,
		Example: `  distributor --db sqlite:ads.db --print-config >distributor.yaml
  distributor --config distributor.yaml
  distributor --config distributor.yaml --name distributor-1 --listen 127.0.0.1:7201`,
	}, s, cmdline.Server{Config: &c, Validate: c.Validate, Check: c.CheckStart, Database: &c.DB, Help: cmdline.KeyHelp(nil),
		Run: func(ctx context.Context, out io.Writer, log *slog.Logger) error {
			return distributor.Run(ctx, c, out, log)
		}})
}
