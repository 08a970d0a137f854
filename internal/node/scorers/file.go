// Package scorers keeps the models, read from a file, that score candidates (serving.md §16, docs/scorer.md).
//
// The file is checked every second. A slave uses a new model as soon as it is asked to. A master waits for [Settle] before it asks for a
// new model, so that all slaves that read the same file at about the same time have it. The previous model is kept for masters that
// still ask for it.
package scorers

import (
	"context"
	"io"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"adshard/auction"
	"adshard/fault"
	"adshard/internal/wait"
	"adshard/scorer"
	"adshard/search"
)

const (
	// lookEvery is the time between two checks of the file.
	lookEvery = time.Second
	// Settle is how long a master must have a model before it asks for it.
	Settle = 5 * time.Second
)

// File holds the newest two models of a file. A nil *File has none.
type File struct {
	path string
	log  *slog.Logger
	kept atomic.Pointer[kept]
	mu   sync.Mutex
	seen os.FileInfo // as last read, or nil if the file did not exist; under mu
}

// kept holds the models that are available.
type kept struct {
	newest, before *scorer.Model // before may be nil
	came           time.Time     // when the newest was read, or zero for the first one
}

// Open reads a file; for "" it returns a nil *File. Errors: fault.Invalid, with the name of the file and what is wrong in it.
func Open(path string, log *slog.Logger) (*File, error) {
	if path == "" {
		return nil, nil
	}
	f := &File{path: path, log: log}
	f.seen, _ = os.Stat(path)
	m, err := read(path)
	if err != nil {
		return nil, err
	}
	f.kept.Store(&kept{newest: m})
	log.Info("scorer", "path", path, "model", m.ID())
	return f, nil
}

// Check checks a file in the way of Open.
func Check(path string) error {
	if path == "" {
		return nil
	}
	_, err := read(path)
	return err
}

func read(path string) (*scorer.Model, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fault.Field("scorer", "scorer", "the model cannot be read: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, scorer.MaxBytes+1))
	if err != nil {
		return nil, fault.Field("scorer", "scorer", "the model cannot be read: %w", err)
	}
	m, err := scorer.Parse(text)
	if err != nil {
		return nil, fault.Field("scorer", "scorer", "%s: %w", path, err)
	}
	return m, nil
}

// Find implements query.Scorers. It returns the model with an id, or nil if it is not available.
func (f *File) Find(id search.ScorerID) auction.Scorer {
	if f == nil {
		return nil
	}
	switch k := f.kept.Load(); {
	case k.newest.ID() == id:
		return k.newest
	case k.before != nil && k.before.ID() == id:
		return k.before
	}
	return nil
}

// Asked returns the id of the model that a master asks for: the newest one that has been available for Settle or since the start. It
// returns the zero id for a nil File.
func (f *File) Asked() search.ScorerID {
	if f == nil {
		return search.ScorerID{}
	}
	k := f.kept.Load()
	if k.before != nil && time.Since(k.came) < Settle {
		return k.before.ID()
	}
	return k.newest.ID()
}

// Run checks the file until ctx is done.
func (f *File) Run(ctx context.Context) {
	for f != nil && wait.Sleep(ctx, lookEvery) == nil {
		f.look()
	}
}

// look reads the file again if it has changed. A model that cannot be used is logged and ignored. A newer model does not replace one
// that masters do not ask for yet: a later look reads it.
func (f *File) look() {
	f.mu.Lock()
	defer f.mu.Unlock()
	k := f.kept.Load()
	now, _ := os.Stat(f.path) // before it is read, so that the next look sees a later change
	if same(now, f.seen) || k.before != nil && time.Since(k.came) < 2*Settle {
		return
	}
	f.seen = now
	m, err := read(f.path)
	switch {
	case err != nil:
		f.log.Warn("the scorer's file has changed and cannot be used; the model before stays in use", "path", f.path, "model", k.newest.ID(), "err", err)
	case m.ID() != k.newest.ID():
		f.kept.Store(&kept{newest: m, before: k.newest, came: time.Now()})
		f.log.Info("scorer: a new model, in use a little later", "path", f.path, "model", m.ID(), "after", Settle)
	}
}

func same(a, b os.FileInfo) bool {
	if a == nil || b == nil {
		return a == b
	}
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}
