package sqlite

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"adshard/fault"
)

// RestoringEvents is a copy of a backup's events, in the folder where the events will be.
type RestoringEvents struct {
	File      string // the copy
	dir, path string
}

// FetchEvents copies the events of a backup, and compares them with the manifest. The caller must call Remove at the
// end. Errors: fault.NotFound if the backup has no events, fault.Corrupt, fault.NoSpace, fault.Unavailable.
func FetchEvents(ctx context.Context, m *Manifest, from, path string) (*RestoringEvents, error) {
	const op = "sqlite: restore"
	if m.Events == nil {
		return nil, fault.Newf(fault.NotFound, op, "the backup %s has no events", from)
	}
	path = behindLinks(path)
	dir, err := os.MkdirTemp(filepath.Dir(path), "."+filepath.Base(path)+".restoring-")
	if err != nil {
		return nil, fault.New(fault.Unavailable, op, err)
	}
	r := &RestoringEvents{File: filepath.Join(dir, eventsFile), dir: dir, path: path}
	if err := copyExactly(ctx, m.Events, filepath.Join(from, eventsFile), r.File); err != nil {
		r.Remove()
		return nil, err
	}
	return r, nil
}

// Remove removes the rest of the copy.
func (r *RestoringEvents) Remove() { _ = os.RemoveAll(r.dir) } // if it stays, it does no harm

// Present reports whether anything is at the path of the events.
func (r *RestoringEvents) Present() bool {
	for _, suffix := range suffixes {
		if exists(r.path + suffix) {
			return true
		}
	}
	return false
}

// Put moves the copy to the path of the events. It returns where the previous file is now, or "" if there was none.
func (r *RestoringEvents) Put() (kept string, err error) {
	if err := syncFile(r.File); err != nil {
		return "", disk("sqlite: restore", err)
	}
	return put(r.File, r.path, r.Present())
}

// copyExactly copies a file that must be as a manifest says. It reads no more bytes than the manifest gives, and nothing at
// all from a file of another size.
func copyExactly(ctx context.Context, want *FileSum, from, to string) error {
	const op = "sqlite: restore"
	part, err := openPart(from)
	if err != nil {
		return partError(err)
	}
	defer part.Close()
	info, err := part.Stat()
	if err != nil {
		return disk(op, err)
	}
	if info.Size() != want.Size {
		return fault.Newf(fault.Corrupt, op, "%s has %d bytes, and its %s says %d; use another backup", from, info.Size(), manifestFile, want.Size)
	}
	free, err := room(to)
	if err != nil {
		return disk(op, err)
	}
	if free < uint64(want.Size) { // a file with holes may be larger than the disk
		return fault.Newf(fault.NoSpace, op, "%d MiB are free beside %s, and %s has %d; free some space", free>>20, to, from, want.Size>>20)
	}
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return disk(op, err)
	}
	size, sum, err := sumFrom(io.LimitReader(part, want.Size), &interruptible{ctx, f})
	if err := errors.Join(err, f.Close()); err != nil {
		return disk(op, err)
	}
	if size != want.Size || sum != want.SHA256 {
		return fault.Newf(fault.Corrupt, op, "%s is damaged: it is not the file that its %s describes; use another backup", from, manifestFile)
	}
	return nil
}
