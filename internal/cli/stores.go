//go:build cgo

package cli

import (
	"context"
	"io"
	"log/slog"

	"github.com/spf13/cobra"

	"adshard/internal/node/slave"
	"adshard/internal/node/up"
)

func upCommand(s Streams) *cobra.Command {
	c := up.DefaultConfig()
	command := serve(&cobra.Command{
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
	}, s, server{config: &c, validate: c.Validate, check: c.CheckStart, database: &c.DB, help: keyHelp,
		run: func(ctx context.Context, out io.Writer, log *slog.Logger) error {
			return up.Run(ctx, c, out, log)
		}})
	return command
}

func slaveCommand(s Streams) *cobra.Command {
	c := slave.DefaultConfig()
	return serve(&cobra.Command{
		Use:   "slave --config FILE",
		Short: "Store a part of the ad groups and search it",
		Long: `Runs a slave: it keeps a part of the ad groups in a store on disk, follows their
changes and answers the masters' searches. A slave that was killed continues where it
stopped.`,
		Example: `  slave --print-config >slave.yaml
  slave --config slave.yaml
  slave --config slave.yaml --name slave-3 --listen 127.0.0.1:7103 --dir /var/lib/adshard/slave-3`,
	}, s, server{config: &c, validate: c.Validate, check: c.CheckStart, help: keyHelp,
		run: func(ctx context.Context, out io.Writer, log *slog.Logger) error {
			return slave.Run(ctx, c, out, log)
		}})
}
