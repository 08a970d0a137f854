package master

import (
	"context"
	"io"
	"log/slog"

	"github.com/spf13/cobra"

	"adshard/internal/cli/cmdline"
	"adshard/internal/node/master"
)

// Command returns the program's command, which is a command of adshard, too.
func Command(s cmdline.Streams) *cobra.Command {
	c := master.DefaultConfig()
	return cmdline.Serve(&cobra.Command{
		Use:   "master --config FILE",
		Short: "Answer queries over HTTP by asking all slaves",
		Long: `Runs a master: it accepts queries over HTTP, asks all slaves at once, and answers with
the result of the auction. It keeps no state: run as many as you like, behind a load
balancer.`,
		Example: `  master --print-config >master.yaml
  master --config master.yaml
  master --config master.yaml --http :8080 --query-insecure --balancer 10.0.0.5:7000`,
	}, s, cmdline.Server{Config: &c, Validate: c.Validate, Check: c.CheckStart, Help: cmdline.KeyHelp(map[string]string{
		"slaves": "addresses of some slaves; they provide the map of slices while no balancer answers",
	}),
		Run: func(ctx context.Context, out io.Writer, log *slog.Logger) error {
			return master.Run(ctx, c, out, log)
		}})
}
