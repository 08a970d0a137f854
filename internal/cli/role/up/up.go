//go:build cgo

package up

import (
	"context"
	"io"
	"log/slog"

	"github.com/spf13/cobra"

	"adshard/internal/cli/cmdline"
	"adshard/internal/node/up"
)

// Command returns the command that runs a whole cluster.
func Command(s cmdline.Streams) *cobra.Command {
	c := up.DefaultConfig()
	command := cmdline.Serve(&cobra.Command{
		Use:   "up --db URL",
		Short: "Run a whole cluster on this machine",
		Long: `Runs a balancer, slaves and a master on this machine: the same code as the separate
programs, connected by gRPC, but that the master asks slaves in its own process
directly (--transport). Use it to try adshard out, and wherever one machine is
enough. The slaves fill themselves from the database and follow its changes. It prints
every address that it listens on and, once the cluster is complete, "ready" with the
address for queries. With --processes, a part that ends is started again (--no-restart: it
is not). SIGINT or SIGTERM ends it cleanly.`,
		Example: `  adshard up --db sqlite:ads.db
  adshard up --db sqlite:ads.db --slaves 6 --replicas 2  three shards of two slaves
  adshard up --db sqlite:ads.db --slaves 7 --data /var/lib/adshard --http :8080 --query-insecure
  adshard up --db sqlite:ads.db --barrels built          on stores built by barrels build
  adshard up --db sqlite:ads.db --processes              one process per part
  adshard up --db sqlite:ads.db --print-config >up.yaml  then: adshard up --config up.yaml`,
	}, s, cmdline.Server{Config: &c, Validate: c.Validate, Check: c.CheckStart, Database: &c.DB, Help: cmdline.KeyHelp(nil),
		Run: func(ctx context.Context, out io.Writer, log *slog.Logger) error {
			return up.Run(ctx, c, out, log)
		}})
	return command
}
