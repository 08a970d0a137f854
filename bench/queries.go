package bench

import (
	"errors"
	"slices"

	"github.com/spf13/pflag"

	"adshard/bench/workload"
	"adshard/internal/corpus"
)

// queryFlags says what is asked: a named workload or the queries of a file.
type queryFlags struct {
	data, queries string
	keywords      int64
	perGroup      int
	seed          uint64

	made *corpus.Corpus
}

func (f *queryFlags) flags(flags *pflag.FlagSet) {
	flags.StringVar(&f.queries, "queries", "", "file of your own queries, one a line, each alone or followed by a tab and a count or a time (RFC 3339)")
	flags.StringVar(&f.data, "data", "", `directory with catalogue/ and queries/; "extract": the built-in extract`)
	flags.Int64Var(&f.keywords, "keywords", 300_000, "size of the corpus that workloads are made for")
	flags.IntVar(&f.perGroup, "group-keywords", 0, "about how many keywords a group of that corpus has; 0: 11")
	flags.Uint64Var(&f.seed, "seed", 1, "decides the corpus, the queries and their times")
}

// open reads the catalogues, but only once.
func (f *queryFlags) open() (*corpus.Corpus, error) {
	if f.made != nil {
		return f.made, nil
	}
	files, _ := sourceOf(f.data)
	var err error
	f.made, err = corpus.Open(files)
	return f.made, err
}

func (f *queryFlags) options() corpus.Options {
	return corpus.Options{Keywords: f.keywords, Seed: f.seed, PerGroup: f.perGroup, Encoding: corpus.UTF8}
}

// workload returns the workload with a name, or that of --queries.
func (f *queryFlags) workload(name string) (*workload.Workload, error) {
	switch {
	case f.queries != "" && name != "":
		return nil, errors.New("--workload and --queries exclude each other: choose one")
	case f.queries != "":
		return workload.FromFile(f.queries, f.seed)
	case name == "":
		return nil, errors.New("--workload or --queries is missing: name what is asked; --help lists the workloads")
	}
	c, err := f.open()
	if err != nil {
		return nil, err
	}
	return workload.Named(name, workload.Options{Corpus: c, Keywords: f.keywords, PerGroup: f.perGroup, Seed: f.seed})
}

// readQueries reads the queries of a file in their order; it ignores how often
// and when they were asked.
func readQueries(name string) ([]string, error) {
	if name == "" {
		return nil, errors.New("--queries is missing: name a file with one query a line, such as `adbench corpus --queries FILE` writes")
	}
	w, err := workload.FromFile(name, 1)
	if err != nil {
		return nil, err
	}
	return slices.Collect(w.InTurn()), nil
}
