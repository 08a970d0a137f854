// Package home manages the directory of the stores of a cluster on one machine.
package home

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"adshard/backend"
	"adshard/balance"
	"adshard/fault"
	"adshard/internal/node/config"
	"adshard/internal/outfile"
	"adshard/internal/shell"
)

// Dir is the directory of the stores of a cluster on one machine. Its file
// cluster.yaml binds it to the number of slaves and to the slice model in the
// database, so that stores of another database, or of another number of slaves, are
// not served by mistake.
type Dir struct {
	path string
	// made says that this start bound the directory to the cluster. own lists the stores that this
	// start created.
	made bool
	own  []string

	record dirFile
}

// dirFile is the content of the directory's file.
type dirFile struct {
	// ID names the model in the database; Slaves is the number of slaves.
	ID     string `yaml:"id"`
	Slaves int    `yaml:"slaves"`
	// Database is the id of the database whose data the stores hold.
	Database string `yaml:"database"`
	// Order is the order of keys in stores built offline, or empty if they were not built offline.
	Order string `yaml:"order,omitempty"`
}

// Config says which directory a cluster uses.
type Config struct {
	// Path is the directory. Built says that its stores were built offline and must exist.
	Path  string
	Built bool
	// Slaves is the number of stores.
	Slaves int
	// DB is the URL of the database, for messages. DiscardDataOf lists the ids of databases whose
	// data in the stores may be discarded.
	DB            string
	DiscardDataOf []string
}

const homeFile = "cluster.yaml"

// StateKey returns the key of the cluster's model in the database.
func (d *Dir) StateKey() string { return "up/" + d.record.ID }

// Open opens a directory of stores and creates what is missing. Errors: fault.NotFound for stores
// that were not built, or not completely; fault.Conflict for stores of another database or number of
// slaves.
func Open(ctx context.Context, cfg Config, db backend.Store) (*Dir, error) {
	d := &Dir{path: cfg.Path}
	if cfg.Built {
		if err := checkBuilt(d.path, cfg.Slaves); err != nil {
			return nil, err
		}
	}
	if err := makeDir(d.path); err != nil {
		return nil, err
	}
	err := config.Load(d.file(), &d.record)
	switch {
	case fault.Is(err, fault.NotFound) && !cfg.Built:
		return d, d.create(ctx, cfg.Slaves, db)
	case err != nil:
		return nil, d.unbuilt(err)
	}
	if err := d.checkSlaves(&cfg); err != nil {
		return nil, err
	}
	return d, d.checkDatabase(ctx, &cfg, db)
}

// Check makes the checks of Open that change nothing. `id` is the database's id, or "" if it is not
// known.
func Check(cfg Config, id string) error {
	if err := outfile.CheckDir(cfg.Path, false); err != nil {
		return err
	}
	if cfg.Built {
		if err := checkBuilt(cfg.Path, cfg.Slaves); err != nil {
			return err
		}
	}
	d := &Dir{path: cfg.Path}
	err := config.Load(d.file(), &d.record)
	switch {
	case fault.Is(err, fault.NotFound) && !cfg.Built:
		return nil
	case err != nil:
		return d.unbuilt(err)
	}
	err = d.checkSlaves(&cfg)
	if err == nil && id != "" {
		err = d.isOf(&cfg, id)
	}
	return err
}

// unbuilt returns a more helpful error if the directory's file does not exist.
func (d *Dir) unbuilt(err error) error {
	if !fault.Is(err, fault.NotFound) {
		return err
	}
	return fault.Newf(fault.NotFound, "up", "%s has no %s, so its build did not finish; remove it and run `adshard barrels build` again", d.path, homeFile)
}

// Slaves returns the number of slaves that a directory holds stores of. It returns 0 if it holds none
// yet, or if its file cannot be read; Check and Open say why.
func Slaves(path string) int {
	d := &Dir{path: path}
	_ = config.Load(d.file(), &d.record)
	return d.record.Slaves
}

func (d *Dir) checkSlaves(cfg *Config) error {
	if d.record.Slaves == cfg.Slaves {
		return nil
	}
	return fault.Newf(fault.Conflict, "up",
		"%s holds the stores of %d slaves; start with as many, or with another directory", d.path, d.record.Slaves)
}

// isOf returns an error unless the stores belong to the database with this id, or their data may be
// discarded.
func (d *Dir) isOf(cfg *Config, id string) error {
	if d.record.Database == id || slices.Contains(cfg.DiscardDataOf, d.record.Database) {
		return nil
	}
	return fault.Newf(fault.Conflict, "up",
		"%s holds stores of database %s, and %s is database %s: choose another directory with --data, or, "+
			"if these stores are not needed any more, start with --discard-data-of %s", d.path, d.record.Database, cfg.DB, id, d.record.Database)
}

// checkDatabase returns an error unless the stores have data of this database, or data that may be
// discarded.
func (d *Dir) checkDatabase(ctx context.Context, cfg *Config, db backend.Store) error {
	id, err := db.ID(ctx)
	if err != nil {
		return fmt.Errorf("the id of the database: %w", err)
	}
	if err := d.isOf(cfg, id); err != nil || d.record.Database == id {
		return err
	}
	d.record.Database = id
	return config.WriteFile(d.file(), &d.record)
}

// makeDir makes a directory for stores. Errors: if it is itself a store.
func makeDir(path string) error {
	if err := outfile.CheckDir(path, false); err != nil {
		return err
	}
	if err := outfile.MakeDir(path); err != nil {
		return config.DirError(path, err)
	}
	return nil
}

func (d *Dir) file() string { return filepath.Join(d.path, homeFile) }

// Create binds a directory to a database, after the stores of all slaves were built in it in an
// order of keys. A directory that is not bound is not a finished build.
func Create(ctx context.Context, path string, slaves int, order string, db backend.Store) error {
	return (&Dir{path: path, record: dirFile{Order: order}}).create(ctx, slaves, db)
}

// Order returns the order of keys of stores that were built offline. ok is false if they were not.
func (d *Dir) Order() (order balance.Order, ok bool) { return balance.ParseOrder(d.record.Order) }

// Store returns the directory of the i-th slave's store.
func (d *Dir) Store(i int) string { return filepath.Join(d.path, StoreName(i)) }

// create binds the directory to the database.
func (d *Dir) create(ctx context.Context, slaves int, db backend.Store) error {
	id, err := db.ID(ctx)
	if err != nil {
		return fmt.Errorf("the id of the database: %w", err)
	}
	d.record.ID, d.record.Slaves, d.record.Database = rand.Text(), slaves, id
	for i := range slaves {
		store := d.Store(i)
		if _, err := os.Stat(store); errors.Is(err, fs.ErrNotExist) {
			d.own = append(d.own, store)
		}
	}
	d.made = true
	return config.WriteFile(d.file(), &d.record)
}

// Release undoes create after a start that failed before any slave was filled. It does not touch a
// directory that an earlier start created.
func (d *Dir) Release(log *slog.Logger) {
	if !d.made {
		return
	}
	for _, store := range d.own {
		if err := os.RemoveAll(store); err != nil {
			log.Warn("cannot remove the store of a start that failed", "dir", store, "err", err)
			return // the file still says which cluster the stores belong to
		}
	}
	if err := os.Remove(d.file()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		log.Warn("cannot free the directory of a start that failed", "file", d.file(), "err", err)
	}
	_ = os.Remove(d.path) // removed only if it is empty
}

// StoreName returns the name of the i-th slave on one machine, and of its
// directory.
func StoreName(i int) string { return fmt.Sprintf("slave-%d", i) }

// checkBuilt checks that a directory of stores built offline has the stores of exactly this number
// of slaves.
func checkBuilt(dir string, slaves int) error {
	for i := range slaves + 1 {
		_, err := os.Stat(filepath.Join(dir, StoreName(i)))
		switch {
		case i < slaves && err != nil:
			return fault.Newf(fault.NotFound, "up", "%s has no %s; `adshard barrels build --slaves %d --out %s` makes it",
				dir, StoreName(i), slaves, shell.Word(dir))
		case i == slaves && err == nil:
			return fault.Newf(fault.Conflict, "up", "%s was built for more than %d slaves; start with as many as it was built for",
				dir, slaves)
		}
	}
	return nil
}
