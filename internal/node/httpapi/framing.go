package httpapi

import (
	"bytes"
	"net/http"
	"sync/atomic"
)

// framing counts the headers of a connection that say where a body ends. If a request has both Content-Length
// and Transfer-Encoding, net/http uses the latter and drops the former. A proxy in front may use the former,
// and take for the next request what this server takes for the rest of the body. So such a connection is
// closed after the answer (RFC 9112, 6.1). Header lines are counted as their bytes arrive. A body that
// contains such lines, or a request that was sent before the previous answer, may therefore close a
// connection needlessly; but no connection is kept that should be closed.
type framing struct {
	lengths, encodings       atomic.Int64 // number of lines with these headers
	ownLengths, ownEncodings int64        // lines of requests that had only that header; for the goroutine that serves

	line [len(encodingHeader)]byte // beginning of the present line; for the goroutine that reads
	n    int                       // bytes in line

	phase phase        // for the goroutine that reads, and next
	body  atomic.Int64 // bytes that have arrived after the head of the present request
}

// phase is the part of the present request to which the next byte belongs.
type phase int

const (
	before phase = iota // empty lines, which some clients send between requests, or the first line
	inHead
	inBody
)

// next begins another request on the connection. If some of its head arrived with the request before, its body may be counted short.
func (f *framing) next() {
	f.phase = before
	f.body.Store(0)
}

const (
	lengthHeader   = "content-length:"
	encodingHeader = "transfer-encoding:"
)

// scan counts the header lines in bytes that were read, and the bytes of the body.
func (f *framing) scan(b []byte) {
	if f.phase == inBody {
		f.body.Add(int64(len(b)))
	}
	for {
		end := bytes.IndexByte(b, '\n')
		part := b
		if end >= 0 {
			part = b[:end]
		}
		if f.n < len(f.line) {
			f.n += copy(f.line[f.n:], part)
		}
		if end < 0 {
			return
		}
		b = b[end+1:]
		f.passed(f.line[:f.n], len(b))
		f.count(f.line[:f.n])
		f.n = 0
	}
}

// passed notes a line and how many bytes have arrived after it. The first empty line after others ends the head.
func (f *framing) passed(line []byte, after int) {
	empty := len(line) == 0 || len(line) == 1 && line[0] == '\r'
	switch {
	case f.phase == before && !empty:
		f.phase = inHead
	case f.phase == inHead && empty:
		f.phase = inBody
		f.body.Store(int64(after))
	}
}

// count counts a line if it is one of the two headers.
func (f *framing) count(line []byte) {
	switch {
	case has(line, lengthHeader):
		f.lengths.Add(1)
	case has(line, encodingHeader):
		f.encodings.Add(1)
	}
}

// has reports whether a line begins with a header's name.
func has(line []byte, header string) bool {
	return len(line) >= len(header) && line[0]|0x20 == header[0] && bytes.EqualFold(line[:len(header)], []byte(header))
}

// unclear reports whether a proxy may see the end of a request elsewhere than this server does.
func (f *framing) unclear(r *http.Request) bool {
	if len(r.TransferEncoding) > 0 {
		f.ownEncodings++
		return f.lengths.Load() > f.ownLengths
	}
	if r.Header["Content-Length"] != nil {
		f.ownLengths++
	}
	return f.encodings.Load() > f.ownEncodings // true also for HTTP/1.0, where Transfer-Encoding means nothing
}

// framed closes connections with unclear requests after the answer.
func framed(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, ok := r.Context().Value(connKey{}).(*stampedConn); ok && c.framing.unclear(r) {
			CloseAfter(w)
		}
		h.ServeHTTP(w, r)
	})
}
