package ingest

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"

	"adshard/fault"
)

// input is an open file, with what of it was read so far.
type input struct {
	name string
	size int64 // 0: not known
	read atomic.Int64
	src  *bufio.Reader
	file *os.File // nil: standard input
}

// open opens a regular file; a link that leads out of the file's directory is
// refused, so that a name in a shared directory cannot stand for any file of
// this machine. "-" is standard input.
func open(name string, stdin io.Reader) (*input, error) {
	in := &input{name: name}
	if name == "-" {
		if stdin == nil {
			return nil, fault.Newf(fault.Invalid, "ingest: open", "there is no standard input here: name a file")
		}
		in.src = bufio.NewReaderSize(&counter{stdin, &in.read}, 64<<10)
		return in, nil
	}
	file, err := openRegular(name)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, errors.Join(openFault(name, err), file.Close())
	}
	if !info.Mode().IsRegular() {
		err := fault.Newf(fault.Invalid, "ingest: open", "%s is no regular file: name a file, or - for standard input", name)
		return nil, errors.Join(err, file.Close())
	}
	in.file, in.size = file, info.Size()
	in.src = bufio.NewReaderSize(&counter{file, &in.read}, 64<<10)
	return in, nil
}

func openRegular(name string) (*os.File, error) {
	// Opening a pipe would wait for its writer: look first.
	if info, err := os.Lstat(name); err == nil && info.Mode()&(fs.ModeNamedPipe|fs.ModeDevice|fs.ModeSocket|fs.ModeDir) != 0 {
		return nil, fault.Newf(fault.Invalid, "ingest: open", "%s is no regular file: name a file, or - for standard input", name)
	}
	root, err := os.OpenRoot(filepath.Dir(name))
	if err != nil {
		return nil, openFault(name, err)
	}
	file, err := root.Open(filepath.Base(name))
	if e := root.Close(); err == nil && e != nil {
		return nil, errors.Join(openFault(name, e), file.Close())
	}
	if err != nil {
		return nil, openFault(name, err)
	}
	return file, nil
}

func openFault(name string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault.Newf(fault.NotFound, "ingest: open", "%s is not there: check the path (%w)", name, err)
	case errors.Is(err, fs.ErrPermission):
		return fault.Newf(fault.Invalid, "ingest: open", "%s may not be read: check its permissions (%w)", name, err)
	}
	return fault.Newf(fault.Invalid, "ingest: open", "%s: %w; a link must stay within its directory: name the file itself, or feed it to -", name, err)
}

func (in *input) close() error {
	if in.file == nil {
		return nil
	}
	return in.file.Close()
}

// source reads the file in its format.
func (in *input) source(o Options) (source, error) {
	format := o.Format
	if format == FormatAuto {
		format = in.sniff()
	}
	if format == FormatJSONL {
		return newJSONSource(in.src, in.name, o.Advertiser)
	}
	s, err := newEditorSource(in.src, in.name, o.Advertiser)
	return s, err
}

// sniff finds the format out from the first character.
func (in *input) sniff() Format {
	head, _ := in.src.Peek(512) // an error comes again at the first read
	for _, c := range head {
		switch c {
		case 0xEF, 0xBB, 0xBF, 0xFF, 0xFE, 0, ' ', '\t', '\r', '\n':
			continue
		case '{':
			return FormatJSONL
		}
		break
	}
	return FormatEditor
}

// counter counts the bytes read, for progress.
type counter struct {
	src io.Reader
	n   *atomic.Int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.src.Read(p)
	c.n.Add(int64(n))
	return n, err
}
