package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"adshard/barrels"
	"adshard/barrels/rocks"
	"adshard/bench/measure"
)

// runCurve measures the store with each number of bytes per keyword, each time in
// a new process, because used memory is never fully given back.
func (f *memoryFlags) runCurve(ctx context.Context, out io.Writer) error {
	keywords, err := f.keywords()
	if err != nil {
		return err
	}
	report := newReport("memory")
	report.Add("keywords", "", float64(keywords))
	report.Note("bytes a keyword are beyond 64 MiB")
	for _, bytes := range f.curve {
		one, err := f.point(ctx, fmt.Sprint(64<<20+uint64(bytes*float64(keywords))))
		if err != nil {
			return fmt.Errorf("%g bytes a keyword: %w", bytes, err)
		}
		for _, v := range one.Figures {
			if v.Name == "resident beyond 64 MiB" || strings.HasPrefix(v.Name, "search ") || v.Name == "disk per keyword" {
				report.Add(fmt.Sprintf("%g bytes a keyword: %s", bytes, v.Name), v.Unit, v.Value)
			}
		}
	}
	return f.write(out, report)
}

// keywords returns the number of the store's keywords.
func (f *memoryFlags) keywords() (n uint64, err error) {
	if err := thereIsAStore(f.barrels); err != nil {
		return 0, err
	}
	db, err := rocks.Open(f.barrels, rocks.Options{})
	if err != nil {
		return 0, err
	}
	store, err := barrels.Open(db, barrels.Options{})
	if err != nil {
		return 0, err
	}
	return store.Stats().Keywords, store.Close()
}

// point measures with the given memory in a new process.
func (f *memoryFlags) point(ctx context.Context, memory string) (_ *measure.Report, err error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "adbench-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file := filepath.Join(dir, "memory.json")
	c := exec.CommandContext(ctx, program, "memory", "--barrels", f.barrels, "--queries", f.queries, "--memory", memory, "--json", file)
	if said, err := c.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, said)
	}
	return measure.ReadFile(file)
}
