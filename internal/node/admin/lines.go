package admin

import (
	"bufio"
	"encoding/json"
	"net/http"
	"time"
)

const (
	// lineTimeout is how long a reader of a stream may take to receive what is sent in one write.
	lineTimeout = 15 * time.Second
	// longestWait is how long a stream may be silent.
	longestWait = maxChangesWait * time.Millisecond
	lineBuffer  = 32 << 10
)

// lines writes an answer of JSON lines (data.Lines).
type lines struct {
	w     http.ResponseWriter
	rc    *http.ResponseController
	buf   *bufio.Writer
	json  *json.Encoder
	begun bool
}

func newLines(w http.ResponseWriter) *lines {
	l := &lines{w: w, rc: http.NewResponseController(w)}
	l.buf = bufio.NewWriterSize(sender{l}, lineBuffer)
	l.json = json.NewEncoder(l.buf)
	l.json.SetEscapeHTML(false)
	return l
}

// sender sends the contents of the buffer and moves the deadline on, so that the deadline applies
// to this write and not to the whole stream.
type sender struct{ *lines }

func (s sender) Write(b []byte) (int, error) {
	s.begin()
	if err := s.deadline(); err != nil {
		return 0, err
	}
	return s.w.Write(b)
}

func (l *lines) begin() {
	if !l.begun {
		l.begun = true
		l.w.Header().Set("Content-Type", "application/x-ndjson")
		l.w.WriteHeader(http.StatusOK)
	}
}

// deadline gives the reader time to receive what is sent next.
func (l *lines) deadline() error { return l.rc.SetWriteDeadline(time.Now().Add(lineTimeout)) }

// Write implements data.Lines.
func (l *lines) Write(b []byte) error {
	_, err := l.buf.Write(b)
	return err
}

// JSON implements data.Lines.
func (l *lines) JSON(v any) error { return l.json.Encode(v) }

// Flush implements data.Lines.
func (l *lines) Flush() error {
	l.begin()
	if err := l.buf.Flush(); err != nil {
		return err
	}
	err := l.rc.Flush()
	if err == nil {
		// The stream may be silent now without its reader being late.
		err = l.rc.SetWriteDeadline(time.Now().Add(longestWait + lineTimeout))
	}
	return err
}
