package trace

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/cespare/xxhash/v2"

	"adshard/backend"
)

// format grows when files of an older program no longer mean the same.
const format = 3

// Cached returns the trace that a file of dir holds for the same database,
// order, profile and queries, or builds it and leaves such a file.
func Cached(ctx context.Context, db backend.Store, o Options, dir string) (*Trace, error) {
	newest, err := db.Newest(ctx)
	if err != nil {
		return nil, err
	}
	counts, err := db.Counts(ctx)
	if err != nil {
		return nil, err
	}
	name := filepath.Join(dir, fmt.Sprintf("trace-%016x.gob", sumOf(newest.Clock, counts, o)))
	if t, err := load(name); err == nil {
		return t, nil
	}
	t, err := Build(ctx, db, o)
	if err != nil {
		return nil, err
	}
	return t, t.save(name)
}

// sumOf identifies what a trace follows from.
func sumOf(clock uint64, counts backend.Counts, o Options) uint64 {
	h := xxhash.New()
	fmt.Fprintln(h, format, clock, counts, o.Order, o.Profile, len(o.Queries))
	for _, q := range o.Queries {
		_ = binary.Write(h, binary.LittleEndian, uint32(len(q))) // a hash takes everything
		_, _ = io.WriteString(h, q)
	}
	return h.Sum64()
}

func load(name string) (*Trace, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t := new(Trace)
	if err := gob.NewDecoder(bufio.NewReaderSize(f, 1<<20)).Decode(t); err != nil {
		return nil, err
	}
	if n := len(t.Starts); n != len(t.Queries)+1 || t.Starts[n-1] != len(t.Items) {
		return nil, errors.New("the file is cut off")
	}
	return t, nil
}

// save writes a file whole or not at all.
func (t *Trace) save(name string) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".trace-*")
	if err != nil {
		return fmt.Errorf("cannot keep the trace: %w", err)
	}
	out := bufio.NewWriterSize(f, 1<<20)
	err = errors.Join(gob.NewEncoder(out).Encode(t), out.Flush(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return fmt.Errorf("cannot keep the trace: %w", errors.Join(err, os.Remove(f.Name())))
	}
	return nil
}
