package balancer

import (
	"context"
	"io"
	"log/slog"

	"github.com/spf13/cobra"

	"adshard/internal/cli/cmdline"
	"adshard/internal/node/balancer"
)

// Command returns the program's command, which is a command of adshard, too.
func Command(s cmdline.Streams) *cobra.Command {
	c := balancer.DefaultConfig()
	return cmdline.Serve(&cobra.Command{
		Use:   "balancer --config FILE",
		Short: "Assign ad groups to slaves and send them the data",
		Long: `Runs the balancer: it reads the database, decides which slave stores which ad groups,
and sends them their data and changes. One leads a cluster; run further ones as standbys,
which take over when it fails. Queries are answered while none leads.`,
		Example: `  balancer --db sqlite:ads.db --print-config >balancer.yaml
  balancer --config balancer.yaml
  balancer --config balancer.yaml --slaves 7`,
	}, s, cmdline.Server{Config: &c, Validate: c.Validate, Check: c.CheckStart, Database: &c.DB, Help: cmdline.KeyHelp(map[string]string{
		"slaves": "the number of slaves that must have joined before the first plan",
	}),
		Run: func(ctx context.Context, out io.Writer, log *slog.Logger) error {
			return balancer.Run(ctx, c, out, log)
		}})
}
