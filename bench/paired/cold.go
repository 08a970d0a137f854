package paired

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// coldEvery is the interval at which the system is told to forget what it has
// read.
const coldEvery = 20 * time.Millisecond

// KeepCold keeps the files of a directory out of the system's page cache until
// stop is called. Otherwise, a small cache of the layout's own would be backed by
// all of the machine's memory. Pages that a process has mapped stay, and so do
// those of programs that keep their files elsewhere.
func KeepCold(dir string) (stop func() error, err error) {
	if err := forget(dir, true); err != nil {
		return nil, err
	}
	end, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ticks := time.NewTicker(coldEvery)
		defer ticks.Stop()
		for {
			select {
			case <-end:
				ended <- nil
				return
			case <-ticks.C:
				if err := forget(dir, false); err != nil {
					ended <- err
					return
				}
			}
		}
	}()
	return func() error {
		close(end)
		return <-ended
	}, nil
}

// forget drops the pages of all files below a directory from the page cache.
// Pages that are not yet written stay, unless write is set: then they are written
// first.
func forget(dir string, write bool) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			err = forgetFile(path, write)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil // stores may remove files
		}
		return err
	})
}

func forgetFile(path string, write bool) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	if write {
		err = f.Sync()
	}
	return errors.Join(err, unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED), f.Close())
}
