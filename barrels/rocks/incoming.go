package rocks

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"adshard/fault"
)

// The files of another database can replace a database's own. They are collected in a directory
// within its directory, Incoming. Complete renames that to complete. From this step on they are the
// database, since the next process that opens it finishes the rest: it removes the database's own
// files, renames complete to placing, and moves the files up, CURRENT last. After a crash, the name
// of the directory shows how far this has come.
const (
	incomingDir = "incoming"
	completeDir = "complete"
	placingDir  = "placing"
)

// Incoming returns the directory for files that will replace the database in dir.
func Incoming(dir string) string { return filepath.Join(dir, incomingDir) }

// Complete makes the files in Incoming(dir) the files of the database in dir from the next time
// that it is opened or reopened. They must be a whole database and be on disk.
func Complete(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, incomingDir, "CURRENT")); err != nil {
		return fault.Newf(fault.Invalid, "rocks: complete", "%s holds no database: %w", Incoming(dir), err)
	}
	if err := os.Rename(Incoming(dir), filepath.Join(dir, completeDir)); err != nil {
		return fileError(err)
	}
	return syncDir(dir)
}

// Exists reports whether there is a database in dir, or a complete one that will take its place. It
// does not open it.
func Exists(dir string) bool {
	for _, at := range []string{dir, filepath.Join(dir, completeDir), filepath.Join(dir, placingDir)} {
		if _, err := os.Stat(filepath.Join(at, "CURRENT")); err == nil {
			return true
		}
	}
	return false
}

// place finishes what Complete has begun. The caller has the lock and must not have any file of the
// database open. Each change of a directory is made by step.
func place(dir string, step func(change func() error) error) error {
	complete, placing := filepath.Join(dir, completeDir), filepath.Join(dir, placingDir)
	if present(complete) {
		if err := step(func() error { return removeFiles(dir) }); err != nil {
			return err
		}
		if err := step(func() error { return errors.Join(os.Rename(complete, placing), syncDir(dir)) }); err != nil {
			return fileError(err)
		}
	}
	if !present(placing) {
		return nil
	}
	entries, err := os.ReadDir(placing)
	if err != nil {
		return fileError(err)
	}
	up := func(name string) error {
		return step(func() error { return os.Rename(filepath.Join(placing, name), filepath.Join(dir, name)) })
	}
	for _, e := range entries {
		if name := e.Name(); name != "CURRENT" && name != lockFile {
			if err := up(name); err != nil {
				return fileError(err)
			}
		}
	}
	if err := syncDir(dir); err != nil {
		return fileError(err)
	}
	if err := up("CURRENT"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fileError(err)
	}
	if err := syncDir(dir); err != nil {
		return fileError(err)
	}
	if err := step(func() error { return os.RemoveAll(placing) }); err != nil {
		return fileError(err)
	}
	return nil
}

// makeStep is the step function of a process that does not crash.
func makeStep(change func() error) error { return change() }

func present(dir string) bool {
	_, err := os.Stat(dir)
	return err == nil
}

// syncDir writes a directory's entries to disk.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
