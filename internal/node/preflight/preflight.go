// Package preflight makes the checks of a start that change nothing: of what a program is about to read, to write
// and to listen on. A start makes them before anything else, and --check-config makes only these checks, so the two
// cannot differ.
//
// Goals: all faults at once, each with the setting that has it; nothing is made, migrated, locked or left behind, so
// that a configuration can be checked while the program runs with an earlier one. Non-goals: faults that only the
// program itself can find: peers that do not answer, a port that another process uses (while it runs, the program
// itself does), the contents of a store.
package preflight

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"adshard/events"
	"adshard/fault"
	"adshard/internal/node/access"
	"adshard/internal/node/certs"
	"adshard/internal/node/config"
	"adshard/internal/node/database"
	"adshard/internal/node/ports"
	"adshard/internal/outfile"
	"adshard/internal/ulimit"
)

// Check collects the faults that keep a program from starting.
type Check struct {
	ctx    context.Context
	log    *slog.Logger
	faults []error
	within time.Duration // bounds the check of a database
}

// databaseTime bounds the check of a database: with a server that accepts connections and does not answer, a check would never end.
const databaseTime = 10 * time.Second

// Begin returns a Check that has checked the limits of the process.
func Begin(ctx context.Context, need ulimit.Need, log *slog.Logger) *Check {
	k := &Check{ctx: ctx, log: log, within: databaseTime}
	k.AddError(need.Check(log))
	return k
}

// AddError adds err if it is not nil.
func (k *Check) AddError(err error) {
	if err != nil {
		k.faults = append(k.faults, err)
	}
}

// Of adds err as a fault of the value of a key, if it is not nil.
func (k *Check) Of(key, value string, err error) {
	if err != nil {
		k.AddError(fmt.Errorf("config: %s: %s: %w", key, database.Shown(value), err))
	}
}

// Err returns all faults, each on a line of its own, or nil.
func (k *Check) Err() error {
	if len(k.faults) == 1 {
		return k.faults[0]
	}
	return errors.Join(k.faults...)
}

// Credentials checks the files with which the program authenticates its peers.
func (k *Check) Credentials(s *certs.Settings, role access.Role, name string) {
	_, err := s.Open(role, name, slog.New(slog.DiscardHandler)) // the start itself logs what there is to say
	k.AddError(err)
}

// Queries checks the certificate of the ports for queries.
func (k *Check) Queries(q *certs.QueryTLS) {
	_, err := q.Open(slog.New(slog.DiscardHandler))
	k.AddError(err)
}

// Listen checks that the addresses, given by their keys, belong to this machine and allow listening.
func (k *Check) Listen(addresses map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(addresses)) {
		k.Of(key, addresses[key], ports.Probe(key, addresses[key]))
	}
}

// Database checks the backend database. It returns the database's id, and the id of its database of events or "" if
// none is named yet; after a fault, both are "".
func (k *Check) Database(url string) (id, counts string) {
	ctx, cancel := k.bounded()
	defer cancel()
	id, counts, err := database.Probe(ctx, url)
	k.Of("db", url, orLate(ctx, err))
	return id, counts
}

// bounded returns the context of the check of a database.
func (k *Check) bounded() (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(k.ctx, k.within, fault.Newf(fault.Deadline, "", "it has not answered within %v: see whether its server runs and can be reached", k.within))
}

// orLate returns why ctx has ended if that is why a check failed, and otherwise err.
func orLate(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// Events checks the database of events that the value of a key leads to or, if there is none, the directory for its file. `counts` is the id of the
// database of events that the backend database names. If it names one, the collector's database must exist. A
// collector with another database can run, and says why it is not ready.
func (k *Check) Events(key, url, counts string) {
	ctx, cancel := k.bounded()
	defer cancel()
	there, err := database.ProbeEvents(ctx, url)
	if err == nil && !there && counts != "" {
		err = events.Missing(counts)
	}
	k.Of(key, url, orLate(ctx, err))
	if path, ok := database.FileOf(url); ok {
		k.Of(key, url, folder(filepath.Dir(path)))
	}
}

// File checks that the file of a key can be written or created. It accepts "".
func (k *Check) File(key, path string) {
	if path != "" {
		k.Of(key, path, file(path))
	}
}

func file(path string) error {
	switch info, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return folder(filepath.Dir(path))
	case err == nil && !info.Mode().IsRegular():
		return fault.Newf(fault.Invalid, "start", "%s is not a regular file; name another one", path)
	}
	return writable(path, unix.W_OK)
}

// folder checks that a directory exists and can be written to.
func folder(path string) error {
	if _, err := os.Stat(path); err != nil {
		return config.DirError(path, err)
	}
	return dir(path)
}

// Dir checks that the directory of a key can be written to or created, and that its path does not belong to a database
// or a backup.
func (k *Check) Dir(key, path string) { k.Of(key, path, dir(path)) }

func dir(path string) error {
	at := filepath.Clean(path)
	err := outfile.CheckDir(at, true)
	for {
		info, statErr := os.Stat(at)
		if errors.Is(statErr, fs.ErrNotExist) && at != filepath.Dir(at) {
			if at = filepath.Dir(at); missing(at) { // the directory is to be created in this one
				err = errors.Join(err, outfile.CheckDir(at, true))
			}
			continue
		}
		if statErr == nil && !info.IsDir() {
			return errors.Join(err, fault.Newf(fault.Invalid, "start", "%s is not a directory: choose another one", at))
		}
		return errors.Join(err, writable(at, unix.W_OK|unix.X_OK))
	}
}

func missing(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}

func writable(path string, mode uint32) error {
	if err := unix.Access(path, mode); err != nil {
		return config.DirError(path, &fs.PathError{Op: "write", Path: path, Err: err})
	}
	return nil
}
