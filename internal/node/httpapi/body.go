package httpapi

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"adshard/fault"
	"adshard/internal/node/httpapi/api"
)

// MaxBody bounds the body of a request, in bytes.
const MaxBody = 16 << 10

// ReadBody reads a JSON body of at most `most` bytes into p. Errors: those of ReadJSON, and 400.
func ReadBody(w http.ResponseWriter, r *http.Request, timeout time.Duration, most int64, p api.Params) error {
	body, err := ReadJSON(w, r, timeout, most)
	if err != nil {
		return err
	}
	return api.FromBody(p, body)
}

// ReadJSON reads a body whose Content-Type is JSON or one of `also`, within `timeout`. Its errors are answered 400, 408
// (too slow), 413 (more than `most` bytes) or 415 (not JSON, or compressed), and then the connection is closed.
func ReadJSON(w http.ResponseWriter, r *http.Request, timeout time.Duration, most int64, also ...string) ([]byte, error) {
	if err := jsonBody(r.Header, also); err != nil {
		CloseAfter(w)
		return nil, err
	}
	body, err := readAll(w, r, timeout, most)
	if err == nil && compressed(body) {
		err = wrongEncoding(w, "the body is compressed, and no Content-Encoding says so")
	}
	return body, err
}

// ReadFile reads a body of any content, within the limits of ReadJSON.
func ReadFile(w http.ResponseWriter, r *http.Request, timeout time.Duration, most int64) ([]byte, error) {
	if r.Header.Get("Content-Type") != AnyContent {
		CloseAfter(w)
		return nil, WithStatus(http.StatusUnsupportedMediaType, api.ErrorCodeWrongContentType,
			fault.Field(op, "Content-Type", "the body must be a file, with Content-Type: %s", AnyContent))
	}
	return readAll(w, r, timeout, most)
}

// AnyContent is the content type of a file about which nothing more is said.
const AnyContent = "application/octet-stream"

func readAll(w http.ResponseWriter, r *http.Request, timeout time.Duration, most int64) ([]byte, error) {
	if coding := strings.Join(r.Header.Values("Content-Encoding"), ", "); coding != "" && !strings.EqualFold(coding, identity) {
		CloseAfter(w)
		return nil, wrongEncoding(w, fmt.Sprintf("the body has the Content-Encoding %.40q, which this port does not take", coding))
	}
	rc := http.NewResponseController(w)
	deadline := rc.SetReadDeadline(time.Now().Add(timeout)) == nil
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	if err != nil {
		CloseAfter(w)
		return nil, bodyError(err, timeout)
	}
	if deadline {
		_ = rc.SetReadDeadline(time.Time{}) // otherwise the deadline would end the search
	}
	return body, nil
}

// CloseAfter makes the connection close after the answer: the rest of the request is not read.
func CloseAfter(w http.ResponseWriter) { w.Header().Set("Connection", "close") }

func jsonBody(h http.Header, also []string) error {
	kind, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	charset, named := params["charset"]
	if err == nil && (kind == jsonContent || slices.Contains(also, kind)) && (!named || strings.EqualFold(charset, "utf-8")) {
		return nil
	}
	types := strings.Join(append([]string{jsonContent}, also...), " or ")
	return WithStatus(http.StatusUnsupportedMediaType, api.ErrorCodeWrongContentType,
		fault.Field(op, "Content-Type", "the body must be JSON in UTF-8, with Content-Type: %s", types))
}

const (
	jsonContent = "application/json"
	identity    = "identity" // the coding that changes nothing
)

// wrongEncoding returns the error for a compressed body, and sets the header with the accepted codings (RFC 9110,
// 15.5.16).
func wrongEncoding(w http.ResponseWriter, what string) error {
	w.Header().Set("Accept-Encoding", identity)
	return WithStatus(http.StatusUnsupportedMediaType, api.ErrorCodeWrongContentType,
		fault.Field(op, "Content-Encoding", "%s: send it uncompressed", what))
}

// compressed reports whether a body begins like the output of gzip, zlib or Zstandard. No JSON does.
func compressed(body []byte) bool {
	for _, magic := range []string{"\x1f\x8b", "\x78\x01", "\x78\x9c", "\x78\xda", "\x28\xb5\x2f\xfd"} {
		if strings.HasPrefix(string(body[:min(len(body), 4)]), magic) {
			return true
		}
	}
	return false
}

func bodyError(err error, timeout time.Duration) error {
	var large *http.MaxBytesError
	var network net.Error
	switch {
	case errors.As(err, &large):
		return WithStatus(http.StatusRequestEntityTooLarge, api.ErrorCodeBodyTooLarge,
			fault.Field(op, "", "the body has more than %d bytes", large.Limit))
	case errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return WithStatus(http.StatusRequestTimeout, api.ErrorCodeBodyTooSlow,
			fault.Field(op, "", "the body did not end within %v", timeout))
	}
	return fault.Field(op, "", "the body cannot be read: %v", err)
}
