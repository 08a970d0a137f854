package console

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"

	"adshard/internal/node/access"
	"adshard/internal/node/httpapi"
	"adshard/internal/node/httpapi/api"
)

// refused is the error for an answer that is an error.
type refused struct {
	status  int
	message string
}

// Error implements error.
func (e *refused) Error() string { return e.message }

// statusOf returns the HTTP status of an error from ask.
func statusOf(err error) int {
	var e *refused
	if errors.As(err, &e) {
		return e.status
	}
	return http.StatusInternalServerError
}

// ask makes a call to the port in the name of the sender of r, and reads the answer into `out`. `path` is
// escaped. `body` is sent as JSON, a []byte as it is, and nil as no body. `header` lists names and values in
// turn. Errors: *refused.
func ask(h http.Handler, r *http.Request, method, path string, query url.Values, body, out any, header ...string) error {
	var content io.Reader = http.NoBody
	if file, ok := body.([]byte); ok {
		content = bytes.NewReader(file)
		header = append(header, "Content-Type", httpapi.AnyContent)
	} else if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return &refused{http.StatusInternalServerError, err.Error()}
		}
		content = bytes.NewReader(text)
		header = append(header, "Content-Type", "application/json")
	}
	at := path
	if len(query) > 0 {
		at += "?" + query.Encode()
	}
	call, err := http.NewRequestWithContext(r.Context(), method, at, content)
	if err != nil {
		return &refused{http.StatusInternalServerError, err.Error()}
	}
	call.Host, call.RemoteAddr = r.Host, r.RemoteAddr
	for i := 0; i+1 < len(header); i += 2 {
		call.Header.Set(header[i], header[i+1])
	}
	answer := &capturedResponse{header: make(http.Header), status: http.StatusOK}
	h.ServeHTTP(answer, call)
	if answer.status != http.StatusOK && answer.status != http.StatusAccepted {
		return answer.refusal()
	}
	if err := json.Unmarshal(answer.Bytes(), out); err != nil {
		return &refused{http.StatusInternalServerError, "the answer to " + path + " cannot be read: " + err.Error()}
	}
	return nil
}

// get makes a call without parameters.
func get[T any](c *Console, r *http.Request, path string) (out *T, err error) {
	out = new(T)
	return out, ask(c.cfg.API, r, http.MethodGet, path, nil, nil, out)
}

// capturedResponse captures an answer.
type capturedResponse struct {
	bytes.Buffer
	header http.Header
	status int
}

// Header implements http.ResponseWriter.
func (k *capturedResponse) Header() http.Header { return k.header }

// WriteHeader implements http.ResponseWriter.
func (k *capturedResponse) WriteHeader(status int) { k.status = status }

// refusal returns the error that an answer reports.
func (k *capturedResponse) refusal() error {
	var e api.ErrorAnswer
	if err := json.Unmarshal(k.Bytes(), &e); err != nil || e.Error.Message == "" {
		return &refused{k.status, http.StatusText(k.status)}
	}
	return &refused{k.status, e.Error.Message}
}

// may reports whether the sender of a request may change something.
func (c *Console) may(ctx context.Context) bool {
	return c.cfg.Gate == nil || c.cfg.Gate.May(ctx, access.HTTPCall(access.AdminPort, http.MethodPost, Root+"do/{action}"))
}
