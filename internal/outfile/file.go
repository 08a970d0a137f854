package outfile

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"adshard/fault"
)

// Write writes the whole file or nothing: it writes a temporary file in the same directory and then renames it. A
// device is written directly. A link is kept, and the file it leads to is replaced.
func (o Output) Write(write func(io.Writer) error) error {
	f, err := o.Create(nil)
	if err != nil {
		return err
	}
	buffered := bufio.NewWriterSize(f, 1<<20)
	err = write(buffered)
	if err == nil {
		err = buffered.Flush()
	}
	return f.End(err)
}

// WriteBytes writes a file with this content, as Write does.
func (o Output) WriteBytes(content []byte) error {
	return o.Write(func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// WriteJSON writes a value as indented JSON, as Write does.
func (o Output) WriteJSON(value any) error {
	raw, err := json.MarshalIndent(value, "", " ")
	if err != nil {
		return err
	}
	return o.WriteBytes(append(raw, '\n'))
}

// File is an output that is being written. The caller must call End.
type File struct {
	*os.File
	out  Output
	kept []Kept
	to   string // "" if it is written in place
}

// Create begins an output. It returns an error if Check does.
func (o Output) Create(kept []Kept) (*File, error) {
	if err := Check(kept, o); err != nil {
		return nil, err
	}
	to := target(o.Path)
	if info, err := os.Stat(to); err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(to, os.O_WRONLY, 0)
		if err != nil {
			return nil, failed(o.Path, err)
		}
		return &File{File: f}, nil
	}
	f, err := os.CreateTemp(filepath.Dir(to), "."+filepath.Base(to)+"-*")
	if err != nil {
		return nil, failed(o.Path, err)
	}
	return &File{File: f, out: o, kept: kept, to: to}, nil
}

// End gives the file its name, if Check still allows that. If err is not nil, or End fails, it keeps the previous
// file, removes what was written, and returns the error.
func (f *File) End(err error) error {
	if f.to == "" {
		return errors.Join(err, f.Close())
	}
	if err == nil {
		err = Check(f.kept, f.out)
	}
	if err == nil {
		err = failed(f.out.Path, errors.Join(f.Chmod(f.mode()), f.Sync()))
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = f.place()
	}
	if err != nil {
		return errors.Join(err, remove(f.Name()))
	}
	return nil
}

// mode returns the mode of the file that is replaced, or that of a new file.
func (f *File) mode() fs.FileMode {
	if info, err := os.Stat(f.to); err == nil {
		return info.Mode().Perm()
	}
	if f.out.Kind.Mode != 0 {
		return f.out.Kind.Mode
	}
	return Private
}

// place gives a complete file its name. If the file must be new, it is linked: unlike a rename, a link never replaces
// another file.
func (f *File) place() error {
	if f.out.New {
		err := os.Link(f.Name(), f.to)
		if err == nil {
			return remove(f.Name())
		}
		if errors.Is(err, fs.ErrExist) {
			return fault.Newf(fault.Conflict, "", "%s: it was made meanwhile, and stays: name another file", f.out.name())
		}
	}
	return failed(f.out.Path, os.Rename(f.Name(), f.to))
}

// remove removes a file that may be missing.
func remove(name string) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// failed returns an error of the file system with the path that cannot be written.
func failed(path string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("cannot write %s: %w", path, reason(err))
}
