package outfile

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Write writes a file whole or not at all: to a temporary file in the same directory,
// which is then renamed. A device or a pipe is written directly; a link stays and its
// target is written.
func Write(path string, write func(io.Writer) error) error {
	f, err := Create(path)
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

// WriteJSON writes a value as indented JSON, as Write does.
func WriteJSON(path string, value any) error {
	raw, err := json.MarshalIndent(value, "", " ")
	if err != nil {
		return err
	}
	return Write(path, func(w io.Writer) error {
		_, err := w.Write(append(raw, '\n'))
		return err
	})
}

// File is an output under way. It must be ended.
type File struct {
	*os.File
	to string // "": it is written in place
}

// Create begins an output.
func Create(path string) (*File, error) {
	to := target(path)
	if info, err := os.Stat(to); err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(to, os.O_WRONLY, 0)
		if err != nil {
			return nil, fmt.Errorf("cannot write %s: %w", path, reason(err))
		}
		return &File{File: f}, nil
	}
	f, err := os.CreateTemp(filepath.Dir(to), "."+filepath.Base(to)+"-*")
	if err != nil {
		return nil, fmt.Errorf("cannot write %s: %w", path, reason(err))
	}
	return &File{File: f, to: to}, nil
}

// End moves the file to its place. After an error, which it returns, the previous
// file is kept and what was written is removed.
func (f *File) End(err error) error {
	if f.to == "" {
		return errors.Join(err, f.Close())
	}
	if err == nil {
		err = f.Chmod(0o644)
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), f.to)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
