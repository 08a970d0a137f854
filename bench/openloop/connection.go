package openloop

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"
)

// maxBody bounds the size of one answer.
const maxBody = 16 << 20

// errAnswer is the error for an answer that is not HTTP/1.1 with a length.
var errAnswer = errors.New("the answer is not HTTP/1.1 as expected")

// connection sends requests over one connection, which it opens if there is
// none.
type connection struct {
	network, address, host string
	tls                    *tls.Config // nil: no TLS
	timeout                time.Duration

	conn   net.Conn
	reader *bufio.Reader
	out    []byte
	body   []byte
}

func newConnection(c *Config) *connection {
	network, address, _ := c.dial()
	return &connection{network: network, address: address, host: c.host(), tls: c.secure(address), timeout: c.Timeout}
}

// ask sends a request and returns its answer. The body is valid until the next
// call.
func (c *connection) ask(ctx context.Context, target Target) (status int, body []byte, err error) {
	if c.conn == nil {
		if err := c.open(ctx); err != nil {
			return 0, nil, err
		}
	}
	method := "GET "
	if target.Body != "" {
		method = "POST "
	}
	c.out = append(append(c.out[:0], method...), target.Path...)
	c.out = append(c.out, " HTTP/1.1\r\nHost: "...)
	c.out = append(c.out, c.host...)
	if target.Body != "" {
		c.out = append(c.out, "\r\nContent-Type: application/json\r\nContent-Length: "...)
		c.out = strconv.AppendInt(c.out, int64(len(target.Body)), 10)
	}
	c.out = append(append(c.out, "\r\n\r\n"...), target.Body...)
	if err = c.conn.SetDeadline(time.Now().Add(c.timeout)); err == nil {
		_, err = c.conn.Write(c.out)
	}
	keep := false
	if err == nil {
		status, keep, err = c.answer()
	}
	if err != nil || !keep {
		c.close()
	}
	return status, c.body, err
}

func (c *connection) open(ctx context.Context) error {
	d := net.Dialer{Timeout: c.timeout}
	conn, err := d.DialContext(ctx, c.network, c.address)
	if err != nil {
		return err
	}
	if c.tls != nil {
		conn = tls.Client(conn, c.tls)
	}
	c.conn = conn
	if c.reader == nil {
		c.reader = bufio.NewReaderSize(conn, 16<<10)
	}
	c.reader.Reset(conn)
	return nil
}

func (c *connection) close() {
	if c.conn != nil {
		_ = c.conn.Close() // no answer is expected on it any more
		c.conn = nil
	}
}

// answer reads one answer: its status, whether the connection can be used
// again, and its body.
func (c *connection) answer() (status int, keep bool, err error) {
	line, err := c.line()
	if err != nil {
		return 0, false, err
	}
	if len(line) < 12 || !bytes.HasPrefix(line, []byte("HTTP/1.1 ")) {
		return 0, false, errAnswer
	}
	if status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return 0, false, errAnswer
	}
	length, chunked, keep := -1, false, true
	for {
		if line, err = c.line(); err != nil {
			return 0, false, err
		}
		if len(line) == 0 {
			break
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimSpace(value)
		switch {
		case bytes.EqualFold(name, []byte("Content-Length")):
			if length, err = strconv.Atoi(string(value)); err != nil || length < 0 {
				return 0, false, errAnswer
			}
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			chunked = bytes.EqualFold(value, []byte("chunked"))
		case bytes.EqualFold(name, []byte("Connection")):
			keep = !bytes.EqualFold(value, []byte("close"))
		}
	}
	c.body = c.body[:0]
	if chunked {
		return status, keep, c.chunks()
	}
	return status, keep, c.more(length)
}

// line returns the next line without its end. It is valid until the next read.
func (c *connection) line() ([]byte, error) {
	line, err := c.reader.ReadSlice('\n')
	if err != nil {
		return nil, err
	}
	return bytes.TrimRight(line, "\r\n"), nil
}

// more reads n further bytes of the body.
func (c *connection) more(n int) error {
	if n < 0 || len(c.body)+n > maxBody {
		return fmt.Errorf("%w: a body of %d bytes", errAnswer, n)
	}
	at := len(c.body)
	if cap(c.body) < at+n {
		c.body = append(make([]byte, 0, 2*(at+n)), c.body...)
	}
	c.body = c.body[:at+n]
	_, err := io.ReadFull(c.reader, c.body[at:])
	return err
}

// chunks reads a body with chunked encoding.
func (c *connection) chunks() error {
	for {
		line, err := c.line()
		if err != nil {
			return err
		}
		size, _, _ := bytes.Cut(line, []byte(";"))
		n, err := strconv.ParseInt(string(bytes.TrimSpace(size)), 16, 32)
		if err != nil {
			return errAnswer
		}
		if err := c.more(int(n)); err != nil {
			return err
		}
		if line, err = c.line(); err != nil { // the end of a chunk, or a trailer
			return err
		}
		if n == 0 && len(line) == 0 {
			return nil
		}
	}
}
