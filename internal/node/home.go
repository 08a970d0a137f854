package node

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
	"adshard/fault"
	"adshard/internal/node/config"
)

// home is the directory of the stores of a cluster on one machine. Its file
// cluster.yaml ties it to the number of slaves and to the slice model in the
// database: stores that were filled from another database, or for another
// number of slaves, are not served by mistake.
type home struct {
	dir string
	// made: this start tied the directory to the cluster. own are the stores'
	// directories that it makes.
	made bool
	own  []string
	// ID names the model in the database; Slaves is how many there are.
	ID     string `yaml:"id"`
	Slaves int    `yaml:"slaves"`
	// Database is whose data the stores hold, by its id.
	Database string `yaml:"database"`
}

const homeFile = "cluster.yaml"

// stateKey is under which the database keeps the cluster's model.
func (h *home) stateKey() string { return "up/" + h.ID }

// mark is the key by which the database knows the directory.
func (h *home) mark() string { return "home/" + h.ID }

// openHome opens the directory of stores and makes what is missing.
func openHome(ctx context.Context, cfg *UpConfig, db backend.Store) (*home, error) {
	h := &home{dir: cfg.Data}
	if cfg.Barrels != "" {
		h.dir = cfg.Barrels
		if err := checkBuilt(h.dir, cfg.Slaves); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(h.dir, 0o750); err != nil {
		return nil, dirFault(h.dir, err)
	}
	err := config.Load(h.file(), h)
	switch {
	case fault.Is(err, fault.NotFound) && cfg.Barrels != "":
		return nil, fault.Newf(fault.NotFound, "up",
			"%s has no %s, so its build did not end well; remove it and run `adshard barrels build` again", h.dir, homeFile)
	case fault.Is(err, fault.NotFound):
		return h, h.create(ctx, cfg.Slaves, db)
	case err != nil:
		return nil, err
	case h.Slaves != cfg.Slaves:
		return nil, fault.Newf(fault.Conflict, "up",
			"%s holds the stores of %d slaves; start with as many, or with another directory", h.dir, h.Slaves)
	}
	return h, h.belongs(ctx, cfg, db)
}

// belongs makes sure that the stores hold data of this database, or that they may
// be discarded. A directory of an earlier program does not name the database: the
// database names it.
func (h *home) belongs(ctx context.Context, cfg *UpConfig, db backend.Store) error {
	id, err := db.ID(ctx)
	if err != nil {
		return fmt.Errorf("the id of the database: %w", err)
	}
	if h.Database == "" {
		known, err := db.LoadControl(ctx, h.mark())
		if err != nil {
			return fmt.Errorf("look the directory up in the database: %w", err)
		}
		if known == nil {
			return fault.Newf(fault.Conflict, "up",
				"%s holds stores that were filled from another database than %s; remove the directory or choose another", h.dir, cfg.DB)
		}
	} else if h.Database != id && !slices.Contains(cfg.DiscardDataOf, h.Database) {
		return fault.Newf(fault.Conflict, "up",
			"%s holds stores of database %s, and %s is database %s: choose another directory with --data, or, "+
				"if these stores are not needed any more, start with --discard-data-of %s", h.dir, h.Database, cfg.DB, id, h.Database)
	}
	if h.Database == id {
		return nil
	}
	h.Database = id
	return writeConfig(h.file(), h)
}

func (h *home) file() string { return filepath.Join(h.dir, homeFile) }

// create marks the directory in the database first, so that a crash in between
// leaves a directory without a file, which is made anew.
func (h *home) create(ctx context.Context, slaves int, db backend.Store) error {
	id, err := db.ID(ctx)
	if err != nil {
		return fmt.Errorf("the id of the database: %w", err)
	}
	h.ID, h.Slaves, h.Database = rand.Text(), slaves, id
	if err := db.SaveControl(ctx, h.mark(), []byte{1}); err != nil {
		return fmt.Errorf("note the directory in the database: %w", err)
	}
	for i := range slaves {
		store := filepath.Join(h.dir, StoreName(i))
		if _, err := os.Stat(store); errors.Is(err, fs.ErrNotExist) {
			h.own = append(h.own, store)
		}
	}
	h.made = true
	return writeConfig(h.file(), h)
}

// release undoes create after a start that failed before any slave could be
// filled for good: the directory is as free as it was. One that an earlier start
// made keeps all it has.
func (h *home) release(log *slog.Logger) {
	if !h.made {
		return
	}
	for _, store := range h.own {
		if err := os.RemoveAll(store); err != nil {
			log.Warn("cannot remove the store of a start that failed", "dir", store, "err", err)
			return // the stores go with the file that says whose they are
		}
	}
	if err := os.Remove(h.file()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		log.Warn("cannot free the directory of a start that failed", "file", h.file(), "err", err)
	}
	_ = os.Remove(h.dir) // only an empty one goes
}

// writeConfig writes a configuration whole or not at all.
func writeConfig(path string, cfg any) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return dirFault(filepath.Dir(path), err)
	}
	err = errors.Join(config.Write(f, cfg), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return dirFault(filepath.Dir(path), err)
	}
	return nil
}
