package textfile

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync/atomic"

	"adshard/fault"
)

// bufferSize is the number of bytes that are read at once.
const bufferSize = 64 << 10

// File is an open file that counts the bytes read from it.
type File struct {
	Name string // for messages
	Size int64  // 0 if unknown
	read atomic.Int64
	src  *bufio.Reader
	file *os.File // nil for standard input
}

// Open opens a regular file or a pipe, also through a link: `<(zcat export.gz)` is a link to a pipe. It returns an
// error for directories and devices. "-" is stdin. When ctx is done, a read that is waiting returns the error of ctx.
func Open(ctx context.Context, name string, stdin io.Reader) (*File, error) {
	in := &File{Name: name}
	if name == "-" {
		if stdin == nil {
			return nil, fault.Newf(fault.Invalid, "ingest: open", "there is no standard input here: name a file")
		}
		in.src = bufio.NewReaderSize(&counter{&patient{ctx: ctx, src: stdin}, &in.read}, bufferSize)
		return in, nil
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, openFault(name, err)
	}
	switch info.Mode().Type() {
	case 0:
		in.file, err = os.Open(name)
		in.Size = info.Size()
	case fs.ModeNamedPipe:
		in.file, err = openPipe(ctx, name)
	default:
		return nil, fault.Newf(fault.Invalid, "ingest: open", "%s is a directory or a device: name a file or a pipe, or - for standard input", name)
	}
	if err != nil {
		return nil, openFault(name, err)
	}
	var src io.Reader = in.file
	if in.Size == 0 {
		src = &patient{ctx: ctx, src: in.file}
	}
	in.src = bufio.NewReaderSize(&counter{src, &in.read}, bufferSize)
	return in, nil
}

// openPipe waits until the pipe has a writer or ctx is done.
func openPipe(ctx context.Context, name string) (*os.File, error) {
	type opened struct {
		file *os.File
		err  error
	}
	done := make(chan opened)
	go func() {
		file, err := os.Open(name)
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

func openFault(name string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault.Newf(fault.NotFound, "ingest: open", "%s does not exist: check the path (%w)", name, err)
	case errors.Is(err, fs.ErrPermission):
		return fault.Newf(fault.Invalid, "ingest: open", "%s may not be read: check its permissions (%w)", name, err)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fault.Newf(fault.KindOf(err), "ingest: open", "%s: %w", name, err)
	}
	return fault.Newf(fault.Invalid, "ingest: open", "%s: %w", name, err)
}

// Read implements io.Reader.
func (in *File) Read(p []byte) (int, error) { return in.src.Read(p) }

// Peek returns at most n of the next bytes. The next Read returns the error that Peek met.
func (in *File) Peek(n int) []byte {
	head, _ := in.src.Peek(n)
	return head
}

// BytesRead returns the number of bytes read from the file, for progress.
func (in *File) BytesRead() int64 { return in.read.Load() }

// Close closes the file; standard input stays open.
func (in *File) Close() error {
	if in.file == nil {
		return nil
	}
	return in.file.Close()
}

// Fault returns err with the place at which the file cannot be read any further. Its kind is fault.Invalid unless a
// context ended.
func Fault(name string, record, line int64, err error) error {
	where := fmt.Sprintf("%s: row %d", name, record)
	if line != record {
		where += fmt.Sprintf(" (line %d)", line)
	}
	kind := fault.Invalid
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		kind = fault.KindOf(err)
	}
	return fault.Newf(kind, "ingest: read", "%s: %w", where, err)
}

// patient reads from a source that may block for ever. When ctx is done it stops waiting and abandons the pending
// read.
type patient struct {
	ctx  context.Context
	src  io.Reader
	buf  []byte
	rest []byte // bytes read and not yet returned
	err  error  // to be returned after rest
}

func (r *patient) Read(p []byte) (int, error) {
	if len(r.rest) == 0 && r.err == nil {
		r.fill()
	}
	if n := copy(p, r.rest); n > 0 {
		r.rest = r.rest[n:]
		return n, nil
	}
	return 0, r.err
}

func (r *patient) fill() {
	if r.buf == nil {
		r.buf = make([]byte, bufferSize)
	}
	type chunk struct {
		n   int
		err error
	}
	done := make(chan chunk, 1)
	go func() {
		n, err := r.src.Read(r.buf)
		done <- chunk{n, err}
	}()
	select {
	case c := <-done:
		r.rest, r.err = r.buf[:c.n], c.err
	case <-r.ctx.Done():
		r.err = r.ctx.Err()
	}
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
