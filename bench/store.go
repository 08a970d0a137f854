package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"time"

	"github.com/spf13/cobra"

	"adshard/bench/layouts/served"
	"adshard/bench/measure"
	"adshard/bench/onestore"
	"adshard/internal/outfile"
	"adshard/search"
	"adshard/search/words/lexicon"
)

type storeFlags struct {
	barrels, queries, lexicon          string
	device, variants, profile, cpuprof string
	slots, rounds                      int
	reserve, cache                     uint64
	exact                              bool
	output
}

// StoreCommand returns the subcommand store, which measures one store on one
// core.
func StoreCommand() *cobra.Command {
	var f storeFlags
	c := &cobra.Command{
		Use:   "store --barrels DIR --queries FILE",
		Short: "Measure the search of one slave's store on one core",
		Long: `Measures the search of one slave's store: one goroutine on one core (GOMAXPROCS
is set to 1), the queries in the order of their file, once to warm up, then in
several rounds. Each figure is the median of the rounds, with the extremes.
Before that, a single pass: half of the different queries to warm up, then the
other half under the clock, so that no query is asked twice. Keywords match as
they are in the store, with their match types and negatives.

Expanding a query (the master's part) and searching the store (the slave's) are
timed separately and together (both); nothing is cached between equal queries
except what the store itself caches.
The store must not be open elsewhere: stop the slave that uses it.`,
		Example: `  adshard barrels build --db sqlite:ads.db --slaves 1 --out built
  adbench store --barrels built/slave-0 --queries queries.txt`,
		Args: f.check,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c.Context(), c.OutOrStdout()) },
	}
	flags := c.Flags()
	flags.StringVar(&f.barrels, "barrels", "", "the store's directory (required)")
	flags.StringVar(&f.queries, "queries", "", "file of queries, one a line (required)")
	flags.StringVar(&f.lexicon, "lexicon", "", "file of synonyms; without it there are none")
	flags.StringVar(&f.device, "device", search.Desktop.String(), "desktop, mobile or tablet")
	flags.StringVar(&f.variants, "variants", search.Synonym.String(), "identical, folded, inflected or synonym")
	flags.StringVar(&f.profile, "profile", "default", "default or sklik")
	flags.IntVar(&f.slots, "slots", 4, "places asked for, 1 to 20")
	flags.Uint64Var(&f.reserve, "reserve", 10_000, "the least bid that takes part, in micros")
	flags.BoolVar(&f.exact, "exact", false, "ask for exact counts, as counts=exact does")
	flags.IntVar(&f.rounds, "rounds", 5, "how many times the file is repeated after the warm-up")
	flags.Uint64Var(&f.cache, "cache-bytes", 256<<20, "what the store caches, half of it in RocksDB")
	flags.StringVar(&f.cpuprof, "cpuprofile", "", "write a processor profile of the rounds to this file")
	f.output.flags(c)
	return c
}

// check returns an error, before anything is read, if a file cannot be
// written.
func (f *storeFlags) check(c *cobra.Command, args []string) error {
	if err := outfile.Check(outfile.Inputs(f.queries, f.lexicon), jsonOf(f.name, f.json),
		profileTo(f.cpuprof)); err != nil {
		return err
	}
	return cobra.NoArgs(c, args)
}

func (f *storeFlags) run(ctx context.Context, out io.Writer) (err error) {
	plan, err := f.plan()
	if err != nil {
		return err
	}
	if err := thereIsAStore(f.barrels); err != nil {
		return err
	}
	report := newReport("store")
	runtime.GOMAXPROCS(1)
	start := time.Now()
	store, err := served.Open(served.RocksDB{}, f.barrels, f.cache)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	opened := time.Since(start)
	plan.Store = store
	single, err := plan.Single(ctx)
	if err != nil {
		return err
	}
	if _, err := plan.Round(ctx); err != nil { // the warm-up
		return err
	}
	stop, err := profile(f.cpuprof)
	if err != nil {
		return err
	}
	rounds := make([]*onestore.Round, 0, f.rounds)
	for range f.rounds {
		r, err := plan.Round(ctx)
		if err != nil {
			return errors.Join(err, stop())
		}
		rounds = append(rounds, r)
	}
	if err := stop(); err != nil {
		return err
	}
	report.Add("opening", "s", opened.Seconds())
	onestore.Figures(report, rounds)
	onestore.SingleFigures(report, single)
	onestore.Fit(report, rounds)
	if err := size(report, store.Stats().Keywords, store.Stats().DiskBytes); err != nil {
		return err
	}
	return f.write(out, report)
}

// plan makes the plan that the flags describe.
func (f *storeFlags) plan() (*onestore.Plan, error) {
	if f.barrels == "" {
		return nil, errors.New("--barrels is missing: name the directory of one slave's store")
	}
	if f.rounds < 1 || f.rounds > 1000 {
		return nil, errors.New("--rounds: 1 to 1000")
	}
	p := &onestore.Plan{Slots: f.slots, Reserve: f.reserve, Exact: f.exact}
	var ok bool
	if p.Device, ok = search.ParseDevice(f.device); !ok {
		return nil, fmt.Errorf("--device %s: it is desktop, mobile or tablet", f.device)
	}
	if p.Variants, ok = search.ParseLevel(f.variants); !ok {
		return nil, fmt.Errorf("--variants %s: it is identical, folded, inflected or synonym", f.variants)
	}
	switch f.profile {
	case "default":
		p.Profile = search.DefaultProfile()
	case "sklik":
		p.Profile = search.SklikProfile()
	default:
		return nil, fmt.Errorf("--profile %s: it is default or sklik", f.profile)
	}
	var err error
	if f.lexicon != "" {
		if p.Lexicon, err = lexicon.Open(f.lexicon); err != nil {
			return nil, err
		}
	}
	p.Queries, err = readQueries(f.queries)
	return p, err
}

// profile writes a processor profile to a file until stop is called. If name
// is "", it does nothing.
func profile(name string) (stop func() error, err error) {
	if name == "" {
		return func() error { return nil }, nil
	}
	f, err := profileTo(name).Create(nil)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, f.End(err)
	}
	return func() error {
		pprof.StopCPUProfile()
		return f.End(nil)
	}, nil
}

// size adds the size of a store in memory and on disk.
func size(r *measure.Report, keywords, disk uint64) error {
	debug.FreeOSMemory()
	m, err := measure.MemoryOf(0)
	if err != nil {
		return err
	}
	n := float64(max(1, keywords))
	r.Add("keywords", "", float64(keywords))
	r.Add("memory per keyword", "bytes", float64(m.Resident)/n)
	r.Add("disk per keyword", "bytes", float64(disk)/n)
	return nil
}

// profileTo returns the output for a processor profile, which is compressed.
func profileTo(path string) outfile.Output {
	return outfile.Output{Flag: "--cpuprofile", Path: path, Kind: outfile.Kind{Name: "a profile", Is: outfile.Begins("\x1f\x8b")}}
}
