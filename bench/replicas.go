package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"adshard/barrels/rocks"
	"adshard/bench/measure"
	"adshard/bench/replicas"
	"adshard/internal/outfile"
	"adshard/search"
)

type replicasFlags struct {
	barrels, queries, html string
	replicas.Plan
	output
}

// ReplicasCommand returns the subcommand replicas, which measures the choice of a replica.
func ReplicasCommand() *cobra.Command {
	var f replicasFlags
	c := &cobra.Command{
		Use:   "replicas --barrels DIR --queries FILE",
		Short: "Measure what topics save of reading, and what hedges and two at random do to slow answers",
		Long: `Opens one store as several replicas of one shard, each with caches of its own, and
asks the queries of the file, in a random order each time.

Topics: the posting lists that are read since the replica's cache, which holds a part
of all, has them not, and the latencies; when replicas are preferred by topic and when
they are not, in turns. The first pass, with empty caches, is shown apart.
Hedges: latencies while one replica is slow at times, and while some searches of each
stall at random; as a master asks, with a second replica beside a slow one, and
without; and how many more calls that makes.
A slow replica: latencies while one is slow all the time, with replicas asked in turn,
with the better of two at random, and as a master asks.
The store must not be open elsewhere: stop the slave that uses it.`,
		Example: `  adbench build --keywords 430000 --out store
  adbench corpus --queries queries.txt --out corpus
  adbench replicas --barrels store --queries queries.txt --html replicas.html`,
		Args: func(c *cobra.Command, args []string) error {
			return errors.Join(f.check(), cobra.NoArgs(c, args))
		},
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c.Context(), c.OutOrStdout()) },
	}
	flags := c.Flags()
	flags.StringVar(&f.barrels, "barrels", "", "the store's directory (required)")
	flags.StringVar(&f.queries, "queries", "", "file of queries, one a line (required)")
	flags.IntVar(&f.Replicas, "replicas", 4, "replicas, 2 to 16")
	flags.IntVar(&f.Workers, "workers", 4, "queries under way while topics are measured")
	flags.Float64SliceVar(&f.Parts, "parts", []float64{0.25, 0.5, 1}, "parts of the posting lists that a replica's cache holds")
	flags.IntVar(&f.Rounds, "rounds", 5, "how often all queries are asked after the first pass")
	flags.Float64Var(&f.Rate, "rate", 1000, "queries a second while hedges and slow replicas are measured")
	flags.DurationVar(&f.Duration, "duration", 8*time.Second, "how long each way of asking is measured, in all rounds together")
	flags.DurationVar(&f.Longer, "longer", 20*time.Millisecond, "how much longer a search of a slow replica takes")
	flags.StringVar(&f.html, "html", "", "also write a page with charts to this file")
	f.output.flags(c)
	return c
}

// check rejects invalid flags before anything is read.
func (f *replicasFlags) check() error {
	return errors.Join(f.Validate(), outfile.Check(outfile.Inputs(f.queries),
		jsonOf(f.name, f.json), pageTo(f.html)))
}

func (f *replicasFlags) run(ctx context.Context, out io.Writer) (err error) {
	if f.Queries, err = f.expanded(); err != nil {
		return err
	}
	if err := thereIsAStore(f.barrels); err != nil {
		return err
	}
	report := newReport("replicas")
	if f.DB, err = rocks.Open(f.barrels, rocks.Options{CacheBytes: 8 << 20}); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.DB.Close()) }()
	if err := f.Run(ctx, report); err != nil {
		return err
	}
	if err := f.write(out, report); err != nil || f.html == "" {
		return err
	}
	about := []string{time.Now().UTC().Format(time.DateOnly), measure.Machine(), "load before: " + report.Load}
	return pageTo(f.html).Write(func(w io.Writer) error { return f.WritePage(w, report, about) })
}

// expanded reads the queries and expands them.
func (f *replicasFlags) expanded() (list []*search.Query, err error) {
	texts, err := readQueries(f.queries)
	if err != nil {
		return nil, err
	}
	for _, text := range texts {
		q, err := search.Expand(text, search.Synonym, nil)
		if err == nil {
			list = append(list, q)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("--queries: %s has no query", f.queries)
	}
	return list, nil
}
