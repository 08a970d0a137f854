//go:build cgo

package slave

import (
	"context"
	"io"
	"log/slog"

	"github.com/spf13/cobra"

	"adshard/internal/cli/cmdline"
	"adshard/internal/node/slave"
)

// Command returns the program's command, which is a command of adshard, too.
func Command(s cmdline.Streams) *cobra.Command {
	c := slave.DefaultConfig()
	return cmdline.Serve(&cobra.Command{
		Use:   "slave --config FILE",
		Short: "Store a part of the ad groups and search it",
		Long: `Runs a slave: it keeps a part of the ad groups in a store on disk, follows their
changes and answers the masters' searches. A slave that was killed continues where it
stopped.`,
		Example: `  slave --print-config >slave.yaml
  slave --config slave.yaml
  slave --config slave.yaml --name slave-3 --listen 127.0.0.1:7103 --dir /var/lib/adshard/slave-3`,
	}, s, cmdline.Server{Config: &c, Validate: c.Validate, Check: c.CheckStart, Help: cmdline.KeyHelp(nil),
		Run: func(ctx context.Context, out io.Writer, log *slog.Logger) error {
			return slave.Run(ctx, c, out, log)
		}})
}
