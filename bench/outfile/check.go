package outfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"adshard/fault"
)

// Output is a file that a flag names; without a path there is none.
type Output struct{ Flag, Path string }

// Check returns everything that prevents writing the outputs: a directory that is
// missing or cannot be written, a path that is not a file, a file that is one of the
// inputs or two outputs at once. It leaves no file behind. Inputs that do not exist
// and empty paths are ignored. Errors are of kind fault.Invalid.
func Check(inputs []string, outputs ...Output) error {
	var faults []error
	for i, o := range outputs {
		if o.Path == "" {
			continue
		}
		err := writable(o.Path)
		for _, in := range inputs {
			if err == nil && in != "" && same(o.Path, in) {
				err = errors.New("this command reads that file: name another one")
			}
		}
		for _, other := range outputs[:i] {
			if err == nil && other.Path != "" && same(o.Path, other.Path) {
				err = fmt.Errorf("%s writes that file too: name another one", other.Flag)
			}
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("%s %s: %w", o.Flag, o.Path, err))
		}
	}
	return fault.New(fault.Invalid, "", errors.Join(faults...))
}

// writable reports why Write would not succeed.
func writable(path string) error {
	path = target(path)
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return errors.New("it is a directory: name a file in it")
	case err == nil && info.Mode()&fs.ModeSocket != 0:
		return errors.New("it is a socket: name a file")
	case err == nil && !info.Mode().IsRegular():
		return nil // a device or a pipe: opening it may wait for a reader
	case err == nil:
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return fmt.Errorf("the file cannot be written (%w): name another one", reason(err))
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return room(filepath.Dir(path))
}

// room reports why no file can be made in a directory.
func room(dir string) error {
	switch info, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no directory %s: make it, or name another file", dir)
	case err == nil && !info.IsDir():
		return fmt.Errorf("%s is not a directory: name another file", dir)
	}
	f, err := os.CreateTemp(dir, ".adbench-*")
	if err != nil {
		return fmt.Errorf("no file can be made in %s (%w): name another file", dir, reason(err))
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// same reports whether two paths lead to one file, whether it exists or not. Devices
// do not count as files here.
func same(a, b string) bool {
	a, b = target(a), target(b)
	in, err1 := os.Stat(a)
	other, err2 := os.Stat(b)
	if err1 == nil && err2 == nil {
		return os.SameFile(in, other) && in.Mode().IsRegular()
	}
	absA, err1 := filepath.Abs(a)
	absB, err2 := filepath.Abs(b)
	return err1 == nil && err2 == nil && absA == absB
}

// target follows links to the file itself; a path that leads nowhere stays.
func target(path string) string {
	if to, err := filepath.EvalSymlinks(path); err == nil {
		return to
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(dir, filepath.Base(path))
	}
	return path
}

// reason is an error without the operation and path that it repeats.
func reason(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}
