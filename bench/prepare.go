package bench

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/pflag"

	"adshard/backend"
	"adshard/bench/cluster"
	"adshard/internal/progress"
)

// clusterFlags says which program clusters run, and on which database.
type clusterFlags struct {
	madeFlags
	program  string
	patience time.Duration
}

func (f *clusterFlags) flags(flags *pflag.FlagSet) {
	f.madeFlags.flags(flags)
	flags.StringVar(&f.program, "adshard", "", "the program adshard; \"\": beside this one, or on the path")
	flags.DurationVar(&f.patience, "patience", 30*time.Minute, "give up a fill after this time")
}

// prepared holds what clusters need to start.
type prepared struct {
	program string
	db      string // URL
	counts  backend.Counts
	stores  string       // an empty directory for the clusters' stores
	remove  func() error // removes the stores, and the database if it is not to be kept
}

// prepare finds the program and makes the database unless it exists. The name of
// the directory of stores begins with name.
func (f *clusterFlags) prepare(ctx context.Context, name string, p *progress.Line) (*prepared, error) {
	program, err := cluster.Program(f.program)
	if err != nil {
		return nil, err
	}
	dir, remove, err := f.directory()
	if err != nil {
		return nil, err
	}
	stores, removeStores, err := temporaryIn(dir, name)
	if err != nil {
		return nil, errors.Join(err, remove())
	}
	r := &prepared{program: program, stores: stores}
	r.remove = func() error { return errors.Join(removeStores(), remove()) }
	db, url, err := f.database(ctx, dir, p)
	if err != nil {
		return nil, errors.Join(err, r.remove())
	}
	r.db = url
	r.counts, err = db.Counts(ctx)
	if err = errors.Join(err, db.Close()); err != nil {
		return nil, errors.Join(err, r.remove())
	}
	return r, nil
}
