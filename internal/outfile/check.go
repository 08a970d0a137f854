package outfile

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"adshard/fault"
)

// Output is a file that a command writes.
type Output struct {
	// Flag is the flag that named the file, for errors, or "" if there is none. Path is where the file goes; "" means
	// that it is not written.
	Flag, Path string
	Kind       Kind
	// Forcing is the flag that allows the file to replace one of another kind, or "" if there is none. Force says
	// that the flag was given.
	Forcing string
	Force   bool
	// New says that the path must be free.
	New bool
	// InStore says that the file is in a slave's store.
	InStore bool
}

// Kept is a file that no output of a command may replace, whether it exists or not.
type Kept struct{ What, Path string }

// Inputs returns the files that a command reads as kept files. Paths that are empty or - are left out.
func Inputs(paths ...string) (kept []Kept) {
	for _, p := range paths {
		if p != "" && p != "-" {
			kept = append(kept, Kept{"a file that this command reads", p})
		}
	}
	return kept
}

// Database returns the files of a SQLite database and of the events that belong to it as kept files. For "" it
// returns none.
func Database(path string) (kept []Kept) {
	if path == "" {
		return nil
	}
	for _, p := range names(path) { // SQLite follows links
		for _, of := range []string{p, p + "-events"} {
			for _, side := range []string{"", "-wal", "-shm", "-journal"} {
				kept = append(kept, Kept{"the database", of + side})
			}
		}
	}
	return kept
}

// Check returns an error for everything that prevents writing the outputs (see the package's documentation). It
// leaves no file behind. Errors: fault.Conflict for an output that must be new, fault.Invalid for everything else.
func Check(kept []Kept, outputs ...Output) error {
	var faults []error
	kind := fault.Invalid
	for i, o := range outputs {
		if o.Path == "" {
			continue
		}
		err := o.check(kept)
		for _, other := range outputs[:i] {
			if err == nil && other.Path != "" && Same(o.Path, other.Path) {
				err = fmt.Errorf("%s writes that file too: name another one", cmp.Or(other.Flag, other.Path))
			}
		}
		if err != nil {
			if fault.Is(err, fault.Conflict) {
				kind = fault.Conflict
			}
			faults = append(faults, fmt.Errorf("%s: %w", o.name(), err))
		}
	}
	return fault.New(kind, "", errors.Join(faults...))
}

// name returns the output's name in errors.
func (o *Output) name() string {
	if o.Flag == "" {
		return o.Path
	}
	return o.Flag + " " + o.Path
}

// check returns an error if an output must not or cannot be written.
func (o *Output) check(kept []Kept) error {
	to := target(o.Path)
	if err := o.refused(to, kept); err != nil {
		return err
	}
	if info, err := os.Stat(to); err == nil && !info.Mode().IsRegular() {
		return nil // a device
	}
	return room(filepath.Dir(to))
}

// refused returns an error if an output must not be written to the file that its path leads to.
func (o *Output) refused(to string, kept []Kept) error {
	if err := free(o.Path, o.InStore); err != nil {
		return err
	}
	for _, k := range kept {
		if Same(o.Path, k.Path) {
			return fmt.Errorf("that is %s, which would be replaced: name another file", k.What)
		}
	}
	if info, err := os.Stat(to); err == nil {
		return o.replaces(to, info)
	}
	return nil
}

// free returns an error for a name that belongs to a database, and for a name in a directory that may have only files
// of its own.
func free(path string, inStore bool) error {
	for _, p := range names(path) {
		if of := owner(p); of != "" {
			return fmt.Errorf("a file of that name is taken for a part of the database %s: name another one", of)
		}
		if is := holder(filepath.Dir(p)); is != "" && !(inStore && is == aStore) {
			return fmt.Errorf("%s is %s, which has only files of its own: name a file elsewhere", filepath.Dir(p), is)
		}
	}
	return nil
}

// replaces returns an error if an existing file must not be replaced.
func (o *Output) replaces(path string, info fs.FileInfo) error {
	switch mode := info.Mode(); {
	case info.IsDir():
		return errors.New("it is a directory: name a file in it")
	case mode&fs.ModeNamedPipe != 0:
		return errors.New("it is a pipe, on which this could wait for ever: name a file")
	case !mode.IsRegular() && mode&fs.ModeCharDevice == 0:
		return errors.New("it is a socket or a disk: name a file")
	case o.New:
		return fault.Newf(fault.Conflict, "", "it exists: name another file, or remove it")
	case !mode.IsRegular():
		return nil
	}
	for name, stream := range map[string]*os.File{"input": os.Stdin, "output": os.Stdout, "error": os.Stderr} {
		if is, err := stream.Stat(); err == nil && os.SameFile(is, info) {
			return fmt.Errorf("it is standard %s: name another file", name)
		}
	}
	if locked(info) { // if this process held it, closing the file would give up the lock
		return errors.New("a program holds a lock on it, as on a database that is open: name another file")
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("the file cannot be read and written (%w): name another one", reason(err))
	}
	return errors.Join(o.own(f, info.Size()), f.Close())
}

// own returns an error if an open file is not of the output's kind.
func (o *Output) own(f *os.File, size int64) error {
	if size == 0 || o.Kind.Is != nil && o.Kind.Is(io.NewSectionReader(f, 0, size)) {
		return nil
	}
	is := precious(headOf(io.NewSectionReader(f, 0, size)))
	switch {
	case is != "":
		return fmt.Errorf("it is %s, which an output never replaces: name another file", is)
	case o.Force:
		return nil
	case o.Forcing != "":
		return fmt.Errorf("the file exists and is not %s: name another file, or replace it with %s", o.Kind.Name, o.Forcing)
	}
	return fmt.Errorf("the file exists and is not %s: name another file, or remove it", o.Kind.Name)
}

// room returns an error if no file can be made in a directory.
func room(dir string) error {
	switch info, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no directory %s: make it, or name another file", dir)
	case err == nil && !info.IsDir():
		return fmt.Errorf("%s is not a directory: name another file", dir)
	}
	f, err := os.CreateTemp(dir, ".adshard-*")
	if err != nil {
		return fmt.Errorf("no file can be made in %s (%w): name another file", dir, reason(err))
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// Same reports whether two paths lead to the same file, whether it exists or not. It returns false for devices.
func Same(a, b string) bool {
	in, err1 := os.Stat(a)
	other, err2 := os.Stat(b)
	if err1 == nil && err2 == nil {
		return os.SameFile(in, other) && in.Mode().IsRegular()
	}
	for _, x := range names(a) {
		for _, y := range names(b) {
			if x == y {
				return true
			}
		}
	}
	return false
}

// names returns the absolute path as given and, if it is different, the path of the file that it leads to.
func names(path string) []string {
	given, err := filepath.Abs(path)
	if err != nil {
		given = path
	}
	to := target(given)
	if to == given {
		return []string{given}
	}
	return []string{given, to}
}

// target follows links to the file itself, which need not exist. A path that leads nowhere is returned unchanged.
func target(path string) string {
	const mostLinks = 40
	for range mostLinks {
		if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
			path = filepath.Join(dir, filepath.Base(path))
		}
		to, err := os.Readlink(path)
		if err != nil {
			return path
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	return path
}

// reason returns an error without its operation or path.
func reason(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}
