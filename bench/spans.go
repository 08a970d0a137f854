package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
)

// SpansCommand returns the subcommand spans, which receives the spans of a cluster and
// drops them, so that the cost of tracing is measured with a receiver.
func SpansCommand() *cobra.Command {
	var listen string
	c := &cobra.Command{
		Use:   "spans",
		Short: "Receive the spans of a cluster and drop them",
		Long: `Takes exports of spans by OTLP over HTTP and drops them, until it is ended
(Ctrl-C); then it says how many there were. It stands for a receiver of
traces where what tracing costs a cluster is measured.`,
		Example: `  adbench spans &
  adshard up --db sqlite:ads.db --traces-endpoint http://127.0.0.1:4318/v1/traces`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return dropSpans(c.Context(), listen, c.OutOrStdout()) },
	}
	c.Flags().StringVar(&listen, "listen", "127.0.0.1:4318", "where it listens")
	return c
}

// dropSpans answers exports until ctx is done.
func dropSpans(ctx context.Context, listen string, out io.Writer) error {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", listen)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "ready http://%s/v1/traces\n", l.Addr())
	var exports, bytes atomic.Int64
	s := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body) // if the sender breaks off, this is all that it has sent
		exports.Add(1)
		bytes.Add(n)
		w.Header().Set("Content-Type", "application/x-protobuf") // an empty body is an empty response
	})}
	defer context.AfterFunc(ctx, func() { _ = s.Close() })()
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	fmt.Fprintf(out, "%d exports, %d bytes\n", exports.Load(), bytes.Load())
	return nil
}
