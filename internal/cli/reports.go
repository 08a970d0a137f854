package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"adshard/ingest"
)

// report is a file that a command writes in addition to its work. A regular file is
// written under another name and renamed when it is complete, so that a report never
// replaces a file by a part of one.
type report struct {
	name string // as given
	path string // the file, links followed
	file *os.File
	temp string // "": a pipe or device, which is written to directly
}

// protectedFile is a file that a report must not replace.
type protectedFile struct {
	what, path string
	info       fs.FileInfo // nil: it does not exist yet
}

// protectedFiles are the inputs, the database with the files beside it, and the
// standard streams that are files.
func protectedFiles(inputs []string, database string, s Streams) ([]protectedFile, error) {
	var protected []protectedFile
	add := func(what, path string) error {
		resolved, err := resolve(path)
		if err != nil {
			return err
		}
		info, err := os.Stat(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		protected = append(protected, protectedFile{what, resolved, info})
		return nil
	}
	for _, name := range inputs {
		if name == "-" {
			continue
		}
		if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
			continue // a pipe is read, and nothing can replace it
		}
		if err := add("a file to import", name); err != nil {
			return nil, err
		}
	}
	resolved, err := resolve(database)
	if errors.Is(err, fs.ErrNotExist) {
		return protected, nil // opening it says so
	}
	if err != nil {
		return nil, err
	}
	for _, path := range []string{database, resolved} { // SQLite follows links
		for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
			if err := add("the database", path+suffix); err != nil {
				return nil, err
			}
		}
	}
	for what, stream := range map[string]any{"standard input": s.In, "standard output": s.Out, "standard error": s.Err} {
		if file, ok := stream.(*os.File); ok {
			if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
				protected = append(protected, protectedFile{what: what, info: info})
			}
		}
	}
	return protected, nil
}

// resolve returns the file that a path leads to, which need not exist; it follows
// links.
func resolve(path string) (string, error) {
	const mostLinks = 40
	path, err := filepath.Abs(path)
	for range mostLinks {
		if err != nil {
			return "", err
		}
		var dir string
		if dir, err = filepath.EvalSymlinks(filepath.Dir(path)); err != nil {
			return "", err
		}
		path = filepath.Join(dir, filepath.Base(path))
		target, notLink := os.Readlink(path)
		if notLink != nil {
			return path, nil
		}
		if path = target; !filepath.IsAbs(target) {
			path = filepath.Join(dir, target)
		}
	}
	return "", fmt.Errorf("%s: more than %d links, one to another", path, mostLinks)
}

// planReport checks whether name may be written, and changes nothing. force allows
// a file that is not a report.
func planReport(name string, protected []protectedFile, force bool) (*report, error) {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		info = nil
	case err != nil:
		return nil, cannotWrite(name, err)
	case info.Mode()&(fs.ModeNamedPipe|fs.ModeCharDevice) != 0:
		return &report{name: name, path: name}, nil
	case !info.Mode().IsRegular():
		return nil, wrongUse("a report cannot be written to %s: name a file", name)
	}
	path, err := resolve(name)
	if err != nil {
		return nil, cannotWrite(name, err)
	}
	for _, k := range protected {
		if k.path == path || info != nil && k.info != nil && os.SameFile(k.info, info) {
			return nil, wrongUse("%s is %s: a report would replace it; name another file", name, k.what)
		}
	}
	if info != nil {
		if err := earlierReport(name, force); err != nil {
			return nil, err
		}
	}
	return &report{name: name, path: path, temp: filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"."+rand.Text()+".tmp")}, nil
}

// databaseMagic is how every SQLite database begins.
const databaseMagic = "SQLite format 3\x00"

// earlierReport refuses a file that was not written by an import, unless force is
// set, and a database in any case.
func earlierReport(name string, force bool) error {
	file, err := os.Open(name)
	if err != nil {
		return cannotWrite(name, err)
	}
	defer file.Close()
	head := make([]byte, len(databaseMagic))
	if n, _ := file.ReadAt(head, 0); string(head[:n]) == databaseMagic {
		return wrongUse("%s is a database: a report never replaces one; name another file", name)
	}
	if force {
		return nil
	}
	ours, err := ingest.IsReport(file)
	if err != nil {
		return cannotWrite(name, err)
	}
	if !ours {
		return wrongUse("%s exists and is not a report of an earlier import: name another file, or replace it with --force", name)
	}
	return nil
}

func cannotWrite(name string, err error) error {
	return fmt.Errorf("cannot write %s: %w; its directory must exist", name, err)
}

// open makes the file that the report is written to.
func (r *report) open(ctx context.Context) (err error) {
	if r.temp == "" {
		r.file, err = openWriter(ctx, r.path)
	} else {
		r.file, err = os.OpenFile(r.temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	}
	if err != nil {
		return cannotWrite(r.name, err)
	}
	return nil
}

// openWriter opens a pipe or device; it waits for a pipe's reader, at most
// until ctx is done.
func openWriter(ctx context.Context, path string) (*os.File, error) {
	type opened struct {
		file *os.File
		err  error
	}
	done := make(chan opened)
	go func() {
		file, err := os.OpenFile(path, os.O_WRONLY, 0)
		select {
		case done <- opened{file, err}:
		case <-ctx.Done():
			if err == nil {
				_ = file.Close()
			}
		}
	}()
	select {
	case o := <-done:
		return o.file, o.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// publish gives the report its name; the file it replaces keeps its mode.
func (r *report) publish() error {
	if r.temp == "" {
		return r.file.Close()
	}
	if info, err := os.Stat(r.path); err == nil {
		_ = r.file.Chmod(info.Mode().Perm()) // of another owner's file: the report has ours
	}
	err := errors.Join(r.file.Sync(), r.file.Close())
	if err == nil {
		err = os.Rename(r.temp, r.path)
	}
	if err != nil {
		_ = os.Remove(r.temp)
		return fmt.Errorf("cannot write %s: %w", r.name, err)
	}
	return nil
}

// discard removes what was written; the previous file stays.
func (r *report) discard() {
	_ = r.file.Close()
	if r.temp != "" {
		_ = os.Remove(r.temp)
	}
}
