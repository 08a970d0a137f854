package certs

import (
	"io"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"adshard/fault"
	"adshard/internal/shell"
)

// lookEvery is the least time between two checks of files.
const lookEvery = time.Second

// watched holds the content of some files. They are read again when they change; as long as they cannot
// be read, the old content stays.
type watched[T any] struct {
	files []string
	read  func() (*T, error)
	log   *slog.Logger

	now    atomic.Pointer[T]
	looked atomic.Int64 // when the files were last checked, in Unix nanoseconds
	mu     sync.Mutex
	seen   []os.FileInfo // as they were when last read; under mu
}

// newWatched reads the files for the first time.
func newWatched[T any](log *slog.Logger, read func() (*T, error), files ...string) (*watched[T], error) {
	w := &watched[T]{files: files, read: read, log: log, seen: stat(files)}
	v, err := read()
	if err != nil {
		return nil, err
	}
	w.now.Store(v)
	w.looked.Store(time.Now().UnixNano())
	return w, nil
}

// get returns the newest contents.
func (w *watched[T]) get() *T {
	if last := w.looked.Load(); time.Since(time.Unix(0, last)).Abs() >= lookEvery && w.looked.CompareAndSwap(last, time.Now().UnixNano()) {
		w.look()
	}
	return w.now.Load()
}

// look reads the files if they have changed.
func (w *watched[T]) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := stat(w.files) // before they are read, so that the next look sees a later change
	if slices.EqualFunc(now, w.seen, same) {
		return
	}
	w.seen = now
	v, err := w.read()
	if err != nil {
		w.log.Warn("files have changed and cannot be used; what they had before stays in use", "files", w.files, "err", err)
		return
	}
	w.now.Store(v)
	w.log.Info("files were read again, since they have changed", "files", w.files)
}

func stat(files []string) []os.FileInfo {
	all := make([]os.FileInfo, len(files))
	for i, name := range files {
		all[i], _ = os.Stat(name) // nil if it does not exist
	}
	return all
}

func same(a, b os.FileInfo) bool {
	if a == nil || b == nil {
		return a == b
	}
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}

// maxFile bounds a file with certificates, a key or tokens, in bytes.
const maxFile = 1 << 20

// ReadSecret reads a key or a token. The file is refused if users other than its owner can read it,
// except the group of a file owned by root. Errors: fault.Invalid, never with the content of the file.
func ReadSecret(name string) ([]byte, error) { return readFile(name, true) }

// readFile reads a file. A secret file is refused if users other than its owner can read it, except the
// group of a file owned by root. Errors: fault.Invalid, never with the content of the file.
func readFile(name string, secret bool) ([]byte, error) {
	const op = "certs: read"
	f, err := os.Open(name)
	if err != nil {
		return nil, fault.New(fault.Invalid, op, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fault.New(fault.Invalid, op, err)
	}
	if mode := info.Mode().Perm(); secret && mode&^allowed(info) != 0 {
		return nil, fault.Newf(fault.Invalid, op, "%s can be used by others than its owner (%v); run `chmod 600 %s`", name, mode, shell.Word(name))
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = fault.Newf(fault.Invalid, op, "%s is larger than %d bytes", name, maxFile)
	}
	return text, err
}
