package copying

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"adshard/fault"
	"adshard/internal/ulimit"
)

// freeBytes returns the free space of a directory's disk.
func freeBytes(dir string) (uint64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return s.Bavail * uint64(s.Bsize), nil
}

// needRoom returns fault.NoSpace if the disk of a directory has less than `need` bytes free.
func needRoom(op, dir string, need uint64) error {
	free, err := freeBytes(dir)
	if err != nil {
		return fileError(op, err)
	}
	if free < need {
		return fault.Newf(fault.NoSpace, op, "%d MiB are free in %s, %d are needed; free some space",
			free>>20, dir, (need+1<<20-1)>>20)
	}
	return nil
}

// fileError turns an error of the file system into a fault of the matching kind.
func fileError(op string, err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fault.Newf(fault.NoSpace, op, "%w; free some space", err)
	}
	if advice := ulimit.Advice(err); advice != "" {
		return fault.Newf(fault.Unavailable, op, "%w; %s", err, advice)
	}
	return fault.Newf(fault.Unavailable, op, "%w; check the disk and the directory's permissions", err)
}

// lockFile is the lock that keeps a second copy out of the same directory.
const lockFile = "copy.lock"

// lock takes the lock of a directory that is being filled. Errors: fault.Locked.
func lock(dir string) (unlock func(), err error) {
	const op = "copying: fill"
	f, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fileError(op, err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fault.Newf(fault.Locked, op, "another copy is being made in %s (%w); wait for it, or end it", dir, err), f.Close())
	}
	return func() {
		// A process that is just being started shares the open file until it runs its own program.
		_ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN)
		_ = f.Close()
	}, nil
}

// mib writes a size for messages.
func mib(bytes uint64) string { return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20)) }
