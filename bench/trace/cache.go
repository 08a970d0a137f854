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

// format is increased when files of an older program no longer mean the same.
const format = 3

// Cached returns the trace in a file in dir if that was made for the same database, order,
// profile and queries. Otherwise it builds the trace and writes such a file.
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

// sumOf returns a checksum of everything that determines a trace.
func sumOf(clock uint64, counts backend.Counts, o Options) uint64 {
	h := xxhash.New()
	fmt.Fprintln(h, format, clock, counts, o.Order, o.Profile, len(o.Queries))
	for _, q := range o.Queries {
		_ = binary.Write(h, binary.LittleEndian, uint32(len(q))) // writing to a hash never fails
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

// save writes the complete file or none.
func (t *Trace) save(name string) error {
	kept := outfile.Output{Path: name, Kind: outfile.Kind{Name: "a trace"}, Force: true} // only this program uses this name
	if err := kept.Write(func(w io.Writer) error { return gob.NewEncoder(w).Encode(t) }); err != nil {
		return fmt.Errorf("cannot keep the trace: %w", err)
	}
	return nil
}
