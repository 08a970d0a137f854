package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"adshard/bench/openloop"
	"adshard/bench/workload"
	"adshard/internal/node/access"
	"adshard/internal/node/certs"
)

type loadFlags struct {
	queryFlags
	workload, params string
	ca, contexts     string // files
	reference        bool
	openloop.Config
	output
}

// LoadCommand returns the subcommand load, which puts load on a running cluster.
func LoadCommand() *cobra.Command {
	var f loadFlags
	c := &cobra.Command{
		Use:   "load --addr URL {--queries FILE | --workload NAME} --rate N",
		Short: "Put open-loop load on a running cluster and measure latencies",
		Long: `Puts load on a running cluster and measures latencies over HTTP.

With --rate N, N requests a second arrive at random times (as of independent
users), however fast the cluster answers; each latency counts from the time at
which the request was due, so that waiting behind a slow answer counts as well.
With --rate 0 there is one request at a time, and the next follows its answer:
the latency of a cluster that has nothing else to do. With --closed N, N requests
are always under way, each followed by the next at its answer: what the cluster is
capable of. A recorded log, with a
time behind each query, keeps its times: with --rate 0 they are its own, with
--rate N they are stretched or compressed to N a second on average, and the log
repeats.

The queries are a file of your own or a workload, made for a corpus of
adbench of the same --keywords, --group-keywords and --seed:
` + workload.Help() + `
With --reference each different query is asked once before, and all complete
answers are compared with that first answer: while nothing changes in the
database, no ad may be missing and no price may differ, even while slices move.

Only servers on this machine are asked unless --allow-remote is given.`,
		Example: `  adbench load --queries queries.txt --rate 2000 --duration 30s
  adbench load --queries queries.txt --rate 0 --duration 10s
  adbench load --workload shift:30s --rate 500 --duration 1m --reference
  adbench load --queries queries.txt --rate 500 --params 'device=mobile&counts=exact'
  adbench load --queries queries.txt --contexts contexts.txt --rate 500`,
		Args: f.check,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c.Context(), c.OutOrStdout()) },
	}
	flags := c.Flags()
	flags.StringVar(&f.Addr, "addr", "http://127.0.0.1:8080", "where the cluster listens: a URL, or unix:PATH")
	flags.StringVar(&f.ca, "ca", "", "for https: the certificate (PEM) of the cluster's CA; empty: the system's CAs")
	flags.BoolVar(&f.AllowRemote, "allow-remote", false, "the cluster may be on other machines; ask its operator first")
	f.queryFlags.flags(flags)
	flags.StringVar(&f.workload, "workload", "", "named workload, see above")
	flags.BoolVar(&f.reference, "reference", false, "record all answers first, and count what differs later")
	flags.StringVar(&f.params, "params", "", "further parameters of each request, as in a URL: slots=8&device=mobile")
	flags.StringVar(&f.contexts, "contexts", "", "file of contexts, one a line as parameters, such as `adbench corpus --contexts FILE` writes; the first query is asked with the first, and so on, again and again")
	flags.Float64Var(&f.Rate, "rate", 0, "requests a second; 0: one at a time")
	flags.IntVar(&f.Closed, "closed", 0, "requests kept under way, in place of a rate; 0: not so")
	flags.DurationVar(&f.Warmup, "warmup", 2*time.Second, "time before anything is counted")
	flags.DurationVar(&f.Duration, "duration", 10*time.Second, "time that is counted")
	flags.IntVar(&f.Requests, "requests", 0, "stop after this many; 0: until the time is up")
	flags.IntVar(&f.Connections, "connections", 64, "most requests at a time")
	flags.DurationVar(&f.Timeout, "timeout", 5*time.Second, "give up on an answer after this time")
	flags.IntSliceVar(&f.Processes, "pids", nil, "the cluster's processes, to report their processor time")
	f.output.flags(c)
	return c
}

// check rejects invalid flags before anything is read.
func (f *loadFlags) check(c *cobra.Command, args []string) error {
	if f.workload != "" {
		if err := workload.Check(f.workload); err != nil {
			return fmt.Errorf("--workload: %w", err)
		}
	}
	if err := f.output.check(f.queries, f.contexts); err != nil {
		return err
	}
	return cobra.NoArgs(c, args)
}

func (f *loadFlags) run(ctx context.Context, out io.Writer) error {
	w, err := f.queryFlags.workload(f.workload)
	if err != nil {
		return err
	}
	more, err := url.ParseQuery(f.params)
	if err != nil {
		return fmt.Errorf("--params: %w", err)
	}
	contexts, err := readContexts(f.contexts, more)
	if err != nil {
		return err
	}
	var refused int
	if f.Targets, f.Schedule, refused = scheduled(w, contexts, f.Rate, f.Warmup+f.Duration); len(f.Targets) == 0 {
		return errors.New("none of the queries can be asked")
	}
	if w.Recorded() > 0 { // at the recorded times; the rate only bounds the queue
		f.Rate = max(1, w.MeanRate(f.Rate, f.Warmup+f.Duration))
	} else if f.Requests == 0 && f.Rate == 0 && f.Closed == 0 {
		f.Requests = w.Requests
	}
	if f.TLS, err = certs.ForClient(f.ca, "", "", access.Master); err != nil {
		return err
	}
	report := newReport("load")
	if f.reference {
		if f.Reference, err = openloop.Record(ctx, f.Config); err != nil {
			return err
		}
	}
	o, err := openloop.Run(ctx, f.Config)
	if err != nil {
		return err
	}
	switch {
	case f.Closed > 0:
		report.Name = "closed"
	case f.Rate == 0:
		report.Name = "alone"
	}
	o.Figures(report)
	report.Note("%d different queries; %d more are none that a cluster takes", len(f.Targets), refused)
	if w.Note != "" {
		report.Note("%s", w.Note)
	}
	if err := f.write(out, report); err != nil {
		return err
	}
	if o.Answered() == 0 {
		return errors.New("there was no answer; is the cluster up? `adshard up` starts one")
	}
	return nil
}

// readContexts reads a file of contexts and adds further parameters to each. Without a file it
// returns only these parameters.
func readContexts(name string, more url.Values) (list []url.Values, err error) {
	if name == "" {
		return []url.Values{more}, nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("--contexts: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		v, err := url.ParseQuery(strings.TrimSpace(line))
		if err != nil {
			return nil, fmt.Errorf("--contexts: %s, line %d: %w", name, len(list)+1, err)
		}
		list = append(list, joined(v, more))
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("--contexts: %s is empty: write one a line", name)
	}
	return list, nil
}

// joined returns the parameters of both a and b.
func joined(a, b url.Values) url.Values {
	out := maps.Clone(a)
	if out == nil {
		out = url.Values{}
	}
	maps.Copy(out, b)
	return out
}

// scheduled makes a request target of each query of a workload that a cluster would accept,
// each with one of the contexts in turn, and returns when each is asked. With a rate or
// recorded times, only queries that are asked get a target.
func scheduled(w *workload.Workload, contexts []url.Values, rate float64, run time.Duration) (list []openloop.Target, when iter.Seq2[time.Duration, int], refused int) {
	events := w.Events(rate, run)
	asked := make([]bool, len(w.Queries))
	if rate == 0 && w.Recorded() == 0 {
		events = func(yield func(time.Duration, int) bool) {
			for q := range w.Sequence() {
				if !yield(0, q) {
					return
				}
			}
		}
		for q := range asked {
			asked[q] = true
		}
	} else {
		for _, q := range events {
			asked[q] = true
		}
	}
	number := make([]int, len(w.Queries)) // of the target; -1: none
	for i, q := range w.Queries {
		number[i] = -1
		if !asked[i] {
			continue
		}
		if target, ok := openloop.Search(q, joined(contexts[i%len(contexts)], w.Context(i))); ok {
			number[i] = len(list)
			list = append(list, target)
		} else {
			refused++
		}
	}
	return list, func(yield func(time.Duration, int) bool) {
		for at, q := range events {
			if number[q] >= 0 && !yield(at, number[q]) {
				return
			}
		}
	}, refused
}
