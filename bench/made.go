package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"adshard/backend"
	"adshard/backend/sqlite"
	"adshard/ingest"
	"adshard/internal/outfile"
	"adshard/internal/progress"
)

// madeFlags says which database is measured: a given one, or one made from the
// catalogues.
type madeFlags struct {
	queryFlags
	db   string
	work workDir
}

func (f *madeFlags) flags(flags *pflag.FlagSet) {
	f.queryFlags.flags(flags)
	flags.StringVar(&f.db, "db", "", "the database, sqlite:PATH; without it a corpus is made in --work")
	flags.Var(&f.work, "work", "directory that keeps the corpus' database and what is computed from it; \"\": a temporary one")
}

// inputs returns the input files that the flags name.
func (f *madeFlags) inputs() []string {
	return []string{f.queries, strings.TrimPrefix(f.db, "sqlite:")}
}

// directory returns a working directory, and a function that removes it at the
// end.
func (f *madeFlags) directory() (dir string, remove func() error, err error) {
	if f.work != "" {
		return string(f.work), func() error { return nil }, outfile.MakeDir(string(f.work))
	}
	return temporaryIn("", "adbench")
}

// database opens the database, which it makes if it does not exist; name is
// its URL.
func (f *madeFlags) database(ctx context.Context, dir string, p *progress.Line) (db backend.Store, name string, err error) {
	if f.db != "" {
		path, ok := strings.CutPrefix(f.db, "sqlite:")
		if !ok || path == "" {
			return nil, "", errors.New("--db: name a database, for example --db sqlite:ads.db")
		}
		db, err = sqlite.Open(ctx, path, sqlite.Options{})
		return db, f.db, err
	}
	path := filepath.Join(dir, fmt.Sprintf("corpus-%d-%d-%d.db", f.keywords, f.perGroup, f.seed))
	if _, err := os.Stat(path); err != nil {
		if err := f.fill(ctx, path+".part", p); err != nil {
			return nil, "", err
		}
		for _, end := range []string{"-wal", "-shm", ""} {
			if err := os.Rename(path+".part"+end, path+end); err != nil && (end == "" || !os.IsNotExist(err)) {
				return nil, "", err
			}
		}
	}
	db, err = sqlite.Open(ctx, path, sqlite.Options{})
	return db, "sqlite:" + path, err
}

// fill makes the corpus and imports it, without an intermediate file.
func (f *madeFlags) fill(ctx context.Context, path string, p *progress.Line) (err error) {
	c, err := f.open()
	if err != nil {
		return err
	}
	for _, end := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(path + end); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	db, err := sqlite.Open(ctx, path, sqlite.Options{Create: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	from, to := io.Pipe()
	written := make(chan error, 1)
	go func() {
		_, err := c.Write(ctx, to, f.options())
		to.CloseWithError(err) // nil means the end of the file
		written <- err
	}()
	rows := 1.1 * float64(f.keywords)
	_, err = ingest.Run(ctx, db, []string{"-"}, ingest.Options{
		Stdin: from, Progress: func(at ingest.Progress) { p.Share("making the corpus", min(1, float64(at.Rows)/rows)) },
	})
	from.CloseWithError(err) // the writer ends if the reader has ended
	return errors.Join(err, <-written)
}
