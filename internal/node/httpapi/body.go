package httpapi

import (
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"adshard/fault"
	"adshard/internal/node/httpapi/api"
)

// MaxBody is the most bytes a request's body may have.
const MaxBody = 16 << 10

// ReadBody reads a JSON body into p, within timeout. Errors answer 400, 408
// (too slow), 413 (too large) or 415 (not JSON); after 408 and 413 the
// connection is closed.
func ReadBody(w http.ResponseWriter, r *http.Request, timeout time.Duration, p api.Params) error {
	if err := jsonBody(r.Header); err != nil {
		closeAfter(w)
		return err
	}
	rc := http.NewResponseController(w)
	deadline := rc.SetReadDeadline(time.Now().Add(timeout)) == nil
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	if err != nil {
		closeAfter(w)
		return bodyError(err, timeout)
	}
	if deadline {
		_ = rc.SetReadDeadline(time.Time{}) // else it would end the search
	}
	return api.FromBody(p, body)
}

func closeAfter(w http.ResponseWriter) { w.Header().Set("Connection", "close") }

func jsonBody(h http.Header) error {
	given := h.Get("Content-Type")
	kind, params, err := mime.ParseMediaType(given)
	charset, named := params["charset"]
	if err == nil && kind == "application/json" && (!named || strings.EqualFold(charset, "utf-8")) {
		return nil
	}
	return refuse(http.StatusUnsupportedMediaType, api.ErrorCodeWrongContentType,
		fault.Field(op, "Content-Type", "the body must be JSON in UTF-8, with Content-Type: application/json"))
}

func bodyError(err error, timeout time.Duration) error {
	var large *http.MaxBytesError
	var network net.Error
	switch {
	case errors.As(err, &large):
		return refuse(http.StatusRequestEntityTooLarge, api.ErrorCodeBodyTooLarge,
			fault.Field(op, "", "the body has more than %d bytes", large.Limit))
	case errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return refuse(http.StatusRequestTimeout, api.ErrorCodeBodyTooSlow,
			fault.Field(op, "", "the body did not end within %v", timeout))
	}
	return fault.Field(op, "", "the body cannot be read: %v", err)
}
