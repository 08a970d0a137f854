package database

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"adshard/fault"
)

// meddler is a context that writes to a file whenever its error is checked.
type meddler struct {
	context.Context
	write func()
}

func (m *meddler) Err() error {
	m.write()
	return m.Context.Err()
}

// TestAMovingSource: a copy is not from a single moment if its source, or the source's log, was written to
// during the copy.
func TestAMovingSource(t *testing.T) {
	dir, temporary := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temporary)
	path := filepath.Join(dir, "ads.db")
	for _, part := range parts {
		for _, suffix := range parts {
			if err := os.WriteFile(path+suffix, []byte("content"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		ctx := &meddler{t.Context(), func() {
			f, err := os.OpenFile(path+part, os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if _, err := f.WriteString("more"); err != nil {
				t.Fatal(err)
			}
		}}
		if _, err := copyOf(ctx, path); !fault.Is(err, fault.Locked) {
			t.Errorf("while %q is written to: %v", part, err)
		}
	}
	s, err := copyOf(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.remove(); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(temporary); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
