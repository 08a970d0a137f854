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
	"adshard/internal/outfile"
)

// format grows when files of an older program no longer mean the same.
const format = 3

// Cached returns the trace that a file of dir holds for the same database, order, profile and
// queries, or builds it and writes such a file.
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
	kept := outfile.Output{Path: name, Kind: outfile.Kind{Name: "a trace"}, Force: true} // its name belongs only to this program
	if err := kept.Write(func(w io.Writer) error { return gob.NewEncoder(w).Encode(t) }); err != nil {
		return fmt.Errorf("cannot keep the trace: %w", err)
	}
	return nil
}
