package slave

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"adshard/barrels"
	"adshard/barrels/index"
	"adshard/barrels/rocks"
	"adshard/fault"
	"adshard/internal/node/config"
	"adshard/internal/node/memlimit"
	"adshard/internal/outfile"
	"adshard/internal/ulimit"
)

// A slave whose store cannot be opened continues with an empty one, since the database has everything that was in the store. Its directory
// is set aside, with nothing removed, and the slave begins with an empty directory, as if its disk had been replaced. It then has a new
// instance, so that it is not taken for the replica that it was.
//
// What an adversary, or a mistake, could do with this:
//   - an older program, started by mistake, finds all stores of a newer version: they are not set aside, or the cluster
//     would be filled twice. Stores that this program must build again after an upgrade are set aside: one next to others that can be opened (others), and one of an older program's format or words;
//   - one wrong `languages` would have every store built again, if a store of other languages were set aside;
//   - a directory named by mistake, a backup or a database: nothing that is not a store is moved;
//   - a second process on a store finds it locked: it is not set aside below the first one;
//   - a full disk, too little memory or too few open files: another directory would not mend that;
//   - a disk that damages stores again and again: a few directories are kept, and then the start is refused;
//   - a store of another database opens, and is refused by the balancer (discard_data_of) as before.

// Replace sets aside the directory of a store that could not be opened because of `cause`, and opens an empty store in its place. `others`
// reports whether this program has opened other stores of the cluster. The returned error includes `cause` and, if setting aside was tried
// and failed, the reason.
func Replace(cfg *Config, plan memlimit.Plan, cause error, others bool, log *slog.Logger) (barrels.Store, error) {
	switch kind := fault.KindOf(cause); {
	case !mayBeStore(cfg.Dir), kind == fault.Locked, kind == fault.NoSpace, ulimit.Advice(cause) != "", fault.FieldOf(cause) == "memory",
		fault.FieldOf(cause) == index.OtherLanguages, kind == fault.Version && !others && fault.FieldOf(cause) != index.OlderProgram:
		return nil, cause
	}
	balancer, _ := os.ReadFile(filepath.Join(cfg.Dir, adoptedFile)) // nil if there is none, or it cannot be read either
	to, err := rocks.SetAside(cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("%w; it cannot be set aside: %w", cause, err)
	}
	log.Error("a store cannot be opened: it was set aside, and the slave is filled again", "node", cfg.Name, "set_aside", to, "err", cause)
	if len(balancer) > 0 {
		err := outfile.MakeDir(cfg.Dir)
		if err == nil {
			err = ownFile(filepath.Join(cfg.Dir, adoptedFile)).WriteBytes(balancer)
		}
		if err != nil {
			return nil, config.DirError(cfg.Dir, err)
		}
	}
	store, err := OpenStore(cfg, plan)
	if err == nil {
		cfg.aside = to
	}
	return store, err
}

// mayBeStore reports whether a directory may be set aside. It may not if it is a file, a backup or something of another program.
func mayBeStore(dir string) bool {
	info, err := os.Stat(dir)
	return outfile.CheckStore(dir) == nil && (err != nil || info.IsDir())
}
