package rocks

import (
	"errors"
	"strings"
	"syscall"

	"adshard/barrels/kv"
	"adshard/fault"
	"adshard/internal/ulimit"
)

// opOpen is the operation that a program does not survive at its start, while an open store is opened again until that succeeds.
const opOpen = "rocks: open"

// onceFree adds to the error of an operation for which the disk was full what happens once there is space.
func onceFree(err error, then string) error {
	if !fault.Is(err, fault.NoSpace) {
		return err
	}
	return fault.Newf(fault.NoSpace, "", "%w; free some space, %s", err, then)
}

const (
	thenStart = "and start the program again"
	thenGoOn  = "the store continues automatically"
)

// classify turns an error of RocksDB into a fault of the right kind. RocksDB's C interface returns
// only texts, which begin with the name of a code. Only this function reads them.
func classify(op string, err error) error {
	if err == nil {
		return nil
	}
	// "Result incomplete" is the code of a write that failed because of background work. The reason
	// follows it.
	text := strings.TrimPrefix(err.Error(), "Result incomplete: ")
	err = filesError(text, err)
	if advice := ulimit.Advice(err); advice != "" {
		return fault.Newf(fault.Unavailable, op, "%w; %s", err, advice)
	}
	switch {
	case strings.HasPrefix(text, "IO error: No space left on device"), errors.Is(err, syscall.ENOSPC):
		err = fault.New(fault.NoSpace, op, err)
		if op == opOpen { // Open and Reopen say it
			return err
		}
		return onceFree(err, thenGoOn)
	case strings.HasPrefix(text, "IO error: While lock file"), strings.HasPrefix(text, "IO error: lock hold by current process"):
		return errLocked(op, err)
	case strings.HasPrefix(text, "Corruption"):
		return fault.Newf(fault.Corrupt, op, "%w; %s", err, kv.Refill)
	case strings.HasPrefix(text, "IO error"):
		return fault.Newf(fault.Unavailable, op, "%w; check the disk and the directory's permissions", err)
	}
	return fault.New(fault.Internal, op, err)
}

// errManifest returns why the manifest of a store could not be read. If CURRENT names a missing
// file, the store is damaged. A manifest that cannot be opened for another reason may be undamaged.
func errManifest(err error) error {
	text := err.Error()
	missing := strings.HasPrefix(text, "IO error: No such file or directory") || strings.HasSuffix(text, ": No such file or directory")
	if missing || !strings.HasPrefix(text, "IO error") {
		return fault.Newf(fault.Corrupt, opOpen, "%w; %s", err, kv.Refill)
	}
	return classify(opOpen, err)
}

// noFile is RocksDB's error for running out of file descriptors, with the system's error.
type noFile struct {
	error
	errno syscall.Errno
}

func (e noFile) Unwrap() error { return e.errno }

// filesError returns err as a noFile if its text says so, otherwise err itself.
func filesError(text string, err error) error {
	for _, errno := range []syscall.Errno{syscall.EMFILE, syscall.ENFILE} {
		if strings.Contains(text, "IO error: ") && strings.HasSuffix(strings.ToLower(text), errno.Error()) {
			return noFile{err, errno}
		}
	}
	return err
}

func errLocked(op string, err error) error {
	return fault.Newf(fault.Locked, op,
		"another process uses the store (%w); stop it, or choose another directory", err)
}
