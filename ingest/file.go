package ingest

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"sync/atomic"

	"adshard/fault"
)

// bufferSize is how much is read at once.
const bufferSize = 64 << 10

// input is an open file and how much of it was read.
type input struct {
	name string
	size int64 // 0: unknown
	read atomic.Int64
	src  *bufio.Reader
	file *os.File // nil: standard input
}

// open opens a regular file or a pipe, also by a link: `<(zcat export.gz)` is
// one to a pipe. Directories and devices are refused. "-" is standard input.
func open(ctx context.Context, name string, stdin io.Reader) (*input, error) {
	in := &input{name: name}
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
		in.size = info.Size()
	case fs.ModeNamedPipe:
		in.file, err = openPipe(ctx, name)
	default:
		return nil, fault.Newf(fault.Invalid, "ingest: open", "%s is a directory or a device: name a file or a pipe, or - for standard input", name)
	}
	if err != nil {
		return nil, openFault(name, err)
	}
	var src io.Reader = in.file
	if in.size == 0 {
		src = &patient{ctx: ctx, src: in.file}
	}
	in.src = bufio.NewReaderSize(&counter{src, &in.read}, bufferSize)
	return in, nil
}

// openPipe waits for the pipe's writer, at most until ctx is over.
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

func (in *input) close() error {
	if in.file == nil {
		return nil
	}
	return in.file.Close()
}

// source reads the file in its format; foreign are the campaigns that are not for searches,
// as far as the files before say.
func (in *input) source(o Options, foreign *campaignTypes) (source, error) {
	format := o.Format
	if format == FormatAuto {
		format = in.sniff()
	}
	if format == FormatJSONL {
		s, err := newJSONSource(in.src, in.name, o.Advertiser)
		if err == nil {
			s.places = o.places
		}
		return s, err
	}
	s, err := newEditorSource(in.src, in.name, o.Advertiser)
	if err == nil {
		s.showing, s.now = o.Rejected != nil, o.Now
		s.foreign = foreign
		if o.places != nil {
			s.places = o.places
		}
	}
	return s, err
}

// sniff detects the format from the first character.
func (in *input) sniff() Format {
	head, _ := in.src.Peek(512) // an error comes again at the first read
	for _, c := range head {
		switch c {
		case 0xEF, 0xBB, 0xBF, 0xFF, 0xFE, 0, ' ', '\t', '\r', '\n', '[': // an array is refused line by line
			continue
		case '{':
			return FormatJSONL
		}
		break
	}
	return FormatEditor
}

// patient reads from a source that may block for ever. When ctx ends it stops
// waiting; the last read is then abandoned.
type patient struct {
	ctx  context.Context
	src  io.Reader
	buf  []byte
	rest []byte // read and not yet handed out
	err  error  // behind rest
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
