package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"adshard/backend/sqlite"
	"adshard/barrels"
	"adshard/bench/footprint"
	"adshard/bench/measure"
	"adshard/fault"
	"adshard/internal/node/config"
	"adshard/internal/node/memlimit"
	"adshard/internal/node/slave"
	"adshard/internal/outfile"
	"adshard/search"
)

type memoryFlags struct {
	barrels, queries, db string
	memory               string
	every                int
	curve                []float64
	output
}

// MemoryCommand returns the subcommand memory, which breaks down the memory of a
// store by cause.
func MemoryCommand() *cobra.Command {
	var f memoryFlags
	c := &cobra.Command{
		Use:   "memory --barrels DIR --queries FILE [--db URL]",
		Short: "Measure what one slave's store takes in memory, by cause",
		Long: `Opens one slave's store in this process, asks it queries until what they need is
in memory, and shows what the memory of the process is taken by: live objects of
Go by the code that made them, what Go's heap and the C library hold without need,
RocksDB's own parts, pages of files. The causes add up to what the system counts
as resident, but for the last line.

With --db each keyword of the database is a query first, with its own text, so
that every posting list and nearly every group is read: the store is all hot. The
queries of the file follow. The store must not be open elsewhere.

With --curve the same store is given less and less: the times are those of the
file's queries after they were asked once; what is not in memory is read from the
store's files, which the system may have in its own cache.`,
		Example: `  adshard barrels build --db sqlite:ads.db --slaves 1 --out built
  adbench memory --barrels built/slave-0 --queries queries.txt --db sqlite:ads.db
  adbench memory --barrels huge --queries queries.txt --curve 30,60,120,250`,
		Args: f.check,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c.Context(), c.OutOrStdout()) },
	}
	flags := c.Flags()
	flags.StringVar(&f.barrels, "barrels", "", "the store's directory (required)")
	flags.StringVar(&f.queries, "queries", "", "file of queries, one a line (required)")
	flags.StringVar(&f.db, "db", "", "the store's database, sqlite:PATH: its keywords are queries too")
	flags.IntVar(&f.every, "every", 1, "one of so many keywords of the database is a query")
	flags.StringVar(&f.memory, "memory", "16GiB", "the memory of the process, as of a slave")
	flags.Float64SliceVar(&f.curve, "curve", nil, "instead, search times with so many bytes a keyword beyond 64 MiB, each in a process of its own")
	f.output.flags(c)
	return c
}

// check rejects invalid flags before anything is read.
func (f *memoryFlags) check(c *cobra.Command, args []string) error {
	switch {
	case f.barrels == "" || f.queries == "":
		return errors.New("--barrels and --queries are needed: name the directory of one slave's store, and a file of queries")
	case f.db != "" && (!strings.HasPrefix(f.db, "sqlite:") || f.db == "sqlite:"):
		return errors.New("--db: name a database, for example --db sqlite:ads.db")
	case f.every < 1:
		return fmt.Errorf("--every %d: 1 or more", f.every)
	}
	if err := outfile.Check(outfile.Inputs(f.queries), jsonOf(f.name, f.json)); err != nil {
		return err
	}
	return cobra.NoArgs(c, args)
}

func (f *memoryFlags) run(ctx context.Context, out io.Writer) (err error) {
	if len(f.curve) > 0 {
		return f.runCurve(ctx, out)
	}
	runtime.MemProfileRate = footprint.ProfileRate
	report := newReport("memory")
	began := time.Now()
	store, end, err := openStore(ctx, f.barrels, "", f.memory)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	opened := time.Since(began)
	ask := &asking{store: store}
	if err := f.heat(ctx, ask); err != nil {
		return err
	}
	took := measure.NewLatencies()
	ask.took = took
	if err := f.askFile(ctx, ask); err != nil {
		return err
	}
	stats := store.Stats()
	t, err := footprint.Measure(stats.Memory.DB)
	if err != nil {
		return err
	}
	f.figures(report, t, stats.Keywords)
	report.Add("opening", "s", opened.Seconds())
	report.AddSpread("search ", took.Spread())
	report.Add("keywords", "", float64(stats.Keywords))
	report.Add("disk per keyword", "bytes", float64(stats.DiskBytes)/float64(max(1, stats.Keywords)))
	report.Note("%d queries were asked", ask.asked)
	return f.write(out, report)
}

// openStore opens the store of the slave with this name, which may be empty, as the
// slave would with the given memory. end closes it.
func openStore(ctx context.Context, dir, name, memory string) (store barrels.Store, end func() error, err error) {
	if err := thereIsAStore(dir); err != nil {
		return nil, nil, err
	}
	var size config.Size
	if err := config.Parse([]byte(memory), &size); err != nil {
		return nil, nil, fmt.Errorf("--memory: %w", err)
	}
	plan, err := memlimit.Divide(size, 1)
	if err != nil {
		return nil, nil, err
	}
	plan.Begin()
	held, stop := context.WithCancel(ctx)
	go plan.Hold(held)
	if store, err = slave.OpenStore(&slave.Config{Name: name, Dir: dir, Memory: size}, plan); err != nil {
		stop()
		return nil, nil, err
	}
	return store, func() error { stop(); return store.Close() }, nil
}

// thereIsAStore returns an error if a directory has no store: opening it would
// create an empty one.
func thereIsAStore(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, "CURRENT")); err != nil {
		return fmt.Errorf("--barrels %s is not a store: name the directory of one slave, such as built/slave-0 by `adshard barrels build --out built`", dir)
	}
	return nil
}

// figures adds the memory of each cause, per keyword.
func (f *memoryFlags) figures(r *measure.Report, t *footprint.Table, keywords uint64) {
	n := float64(max(1, keywords))
	for _, c := range t.Causes {
		r.Add(c.Name, "bytes a keyword", float64(c.Bytes)/n)
	}
	r.Add("unexplained", "bytes a keyword", float64(t.Unexplained)/n)
	r.Add("resident", "bytes a keyword", float64(t.Resident)/n)
	r.Add("resident beyond 64 MiB", "bytes a keyword", float64(t.Resident-t.Profile-64<<20)/n)
	r.Note("what is resident beyond 64 MiB leaves out the profile, which a slave does not have")
}

// heat warms the store up: it asks all keywords of the database and all queries of
// the file once.
func (f *memoryFlags) heat(ctx context.Context, ask *asking) error {
	if f.db != "" {
		if err := f.askKeywords(ctx, ask); err != nil {
			return err
		}
	}
	return f.askFile(ctx, ask)
}

func (f *memoryFlags) askFile(ctx context.Context, ask *asking) error {
	queries, err := readQueries(f.queries)
	if err != nil {
		return err
	}
	for _, q := range queries {
		if err := ask.ask(ctx, q); err != nil {
			return err
		}
	}
	return nil
}

// askKeywords asks the texts of the database's keywords as queries.
func (f *memoryFlags) askKeywords(ctx context.Context, ask *asking) (err error) {
	db, err := sqlite.Open(ctx, strings.TrimPrefix(f.db, "sqlite:"), sqlite.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	snap, err := db.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, snap.Close()) }()
	n := 0
	for it, err := range snap.All(ctx) {
		if err != nil {
			return err
		}
		for _, k := range it.Keywords {
			if n++; n%f.every != 0 {
				continue
			}
			if err := ask.ask(ctx, k.Text); err != nil {
				return err
			}
		}
	}
	return nil
}

// asking queries a store as a master would, on one thread.
type asking struct {
	store barrels.Store
	took  *measure.Latencies // nil: not measured
	asked int
}

func (a *asking) ask(ctx context.Context, text string) error {
	q, err := search.Expand(text, search.Synonym, nil)
	if fault.Is(err, fault.Invalid) {
		return nil
	}
	if err != nil {
		return err
	}
	a.asked++
	start := time.Now()
	_, err = a.store.Search(ctx, &search.Request{
		Query: q, Profile: search.DefaultProfile().Capped(search.Synonym), Device: search.Desktop, Slots: 4, Reserve: 10_000, RequestID: "adbench",
	})
	if a.took != nil {
		a.took.Add(time.Since(start))
	}
	return err
}
