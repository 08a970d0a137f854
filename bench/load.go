package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"adshard/bench/openloop"
	"adshard/search"
)

type loadFlags struct {
	queries, params string
	openloop.Config
	output
}

// LoadCommand returns the subcommand load, which asks a running cluster.
func LoadCommand() *cobra.Command {
	var f loadFlags
	c := &cobra.Command{
		Use:   "load --addr URL --queries FILE --rate N",
		Short: "Put open-loop load on a running cluster and measure latencies",
		Long: `Puts load on a running cluster and measures latencies over HTTP.

With --rate N, N requests a second arrive at random times (as of independent
users), however fast the cluster answers; each latency counts from the time at
which the request was due, so that waiting behind a slow answer counts as well.
With --rate 0 one request is under way at a time, the next when the answer is
in: the latency of a cluster that has nothing else to do.

Only servers of this machine are asked unless --allow-remote is given.`,
		Example: `  adbench load --queries queries.txt --rate 2000 --duration 30s
  adbench load --queries queries.txt --rate 0 --duration 10s
  adbench load --queries queries.txt --rate 500 --params 'device=mobile&counts=exact'`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c.Context(), c.OutOrStdout()) },
	}
	flags := c.Flags()
	flags.StringVar(&f.Addr, "addr", "http://127.0.0.1:8080", "where the cluster listens: a URL, or unix:PATH")
	flags.BoolVar(&f.AllowRemote, "allow-remote", false, "the cluster may be on other machines; ask whoever runs it first")
	flags.StringVar(&f.queries, "queries", "", "file of queries, one a line, asked in turn (required)")
	flags.StringVar(&f.params, "params", "", "further parameters of each request, as in a URL: slots=8&device=mobile")
	flags.Float64Var(&f.Rate, "rate", 0, "requests a second; 0: one at a time")
	flags.DurationVar(&f.Warmup, "warmup", 2*time.Second, "time before anything is counted")
	flags.DurationVar(&f.Duration, "duration", 10*time.Second, "time that is counted")
	flags.IntVar(&f.Requests, "requests", 0, "end after so many; 0: at the end of the time")
	flags.IntVar(&f.Connections, "connections", 64, "most requests under way at a time")
	flags.DurationVar(&f.Timeout, "timeout", 5*time.Second, "give an answer up after this time")
	flags.IntSliceVar(&f.Processes, "pids", nil, "the cluster's processes, to report their processor time")
	flags.Uint64Var(&f.Seed, "seed", 1, "decides the times of arrival")
	f.output.flags(c)
	return c
}

func (f *loadFlags) run(ctx context.Context, out io.Writer) error {
	queries, err := readQueries(f.queries)
	if err != nil {
		return err
	}
	more, err := url.ParseQuery(f.params)
	if err != nil {
		return fmt.Errorf("--params: %w", err)
	}
	refused := 0
	if f.Targets, refused = targets(queries, more); len(f.Targets) == 0 {
		return errors.New("none of the queries can be asked")
	}
	o, err := openloop.Run(ctx, f.Config)
	if err != nil {
		return err
	}
	report := newReport("load")
	if f.Rate == 0 {
		report.Name = "alone"
	}
	o.Figures(report)
	report.Note("%d different queries; %d lines are none that a cluster takes", len(f.Targets), refused)
	if err := f.write(out, report); err != nil {
		return err
	}
	if o.Answered() == 0 {
		return errors.New("there was no answer; is the cluster up? `adshard up` starts one")
	}
	return nil
}

// targets makes a request target of each query that a cluster would take.
func targets(queries []string, more url.Values) (list []string, refused int) {
	rest := more.Encode()
	if rest != "" {
		rest = "&" + rest
	}
	for _, q := range queries {
		if _, err := search.Expand(q, search.Identical, nil); err != nil || strings.TrimSpace(q) == "" {
			refused++
			continue
		}
		list = append(list, "/v1/search?q="+url.QueryEscape(q)+rest)
	}
	return list, refused
}
