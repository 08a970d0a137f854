package collector

import (
	"context"
	"io"
	"log/slog"

	"github.com/spf13/cobra"

	"adshard/internal/cli/cmdline"
	"adshard/internal/node/collector"
)

// Command returns the program's command, which is a command of adshard, too.
func Command(s cmdline.Streams) *cobra.Command {
	c := collector.DefaultConfig()
	return cmdline.Serve(&cobra.Command{
		Use:   "collector --db URL",
		Short: "Count impressions and clicks of ads that were served",
		Long: `Runs a collector: it takes impressions and clicks over HTTP, with the tokens that masters
sign when event_tokens is set, counts each once, and marks campaigns as exhausted that
have spent the budget of their day. Run as many as you like on one database of
events; each needs its own name.`,
		Example: `  adshard collector --db sqlite:ads.db
  adshard collector --db "postgres://collector@db/ads?sslmode=verify-full" --http :8090 --query-insecure
  curl -d '{"events":[{"kind":"click","token":"…"}]}' -H 'Content-Type: application/json' http://127.0.0.1:8090/v1/events`,
	}, s, cmdline.Server{Config: &c, Validate: c.Validate, Check: c.CheckStart, Database: &c.DB, Help: cmdline.KeyHelp(map[string]string{
		"http":           "the address for events",
		"max-in-flight":  "the maximum number of batches at once; more are refused at once",
		"query-insecure": "let the port for events be without TLS where other machines can reach it",
		"query-tls-cert": "the certificate (PEM) of the port for events",
		"query-tls-mode": "TLS on the port for events: off, both (plain too) or required",
	}),
		Run: func(ctx context.Context, out io.Writer, log *slog.Logger) error {
			return collector.Run(ctx, c, out, log)
		}})
}
