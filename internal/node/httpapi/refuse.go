package httpapi

import (
	"errors"
	"net/http"
	"strconv"

	"adshard/fault"
	"adshard/internal/node/httpapi/api"
)

// refusal is an error with a status and a code of HTTP's own, beyond those of
// package fault.
type refusal struct {
	status int
	code   api.ErrorCode
	err    error
}

func (r *refusal) Error() string { return r.err.Error() }
func (r *refusal) Unwrap() error { return r.err }

// Forbidden returns an error that is answered 403.
func Forbidden(format string, args ...any) error {
	return &refusal{http.StatusForbidden, api.ErrorCodeForbidden, fault.Newf(fault.Invalid, op, format, args...)}
}

// WrongHost returns an error that is answered 421: the request names another
// host than this one.
func WrongHost(format string, args ...any) error {
	return &refusal{http.StatusMisdirectedRequest, api.ErrorCodeWrongHost, fault.Newf(fault.Invalid, op, format, args...)}
}

// Status returns the HTTP status of an error: that of its kind (package
// fault), or of a refusal by this package.
func Status(err error) int {
	var r *refusal
	if errors.As(err, &r) {
		return r.status
	}
	switch fault.KindOf(err) {
	case fault.Invalid:
		return http.StatusBadRequest
	case fault.NotFound:
		return http.StatusNotFound
	case fault.Conflict:
		return http.StatusConflict
	case fault.Deadline:
		return http.StatusGatewayTimeout
	case fault.Unavailable, fault.Overloaded, fault.Stale, fault.Cancelled, fault.Locked, fault.NoSpace:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// WriteError answers with the error's status and with
// {"error":{"code","message","field"}}; a 503 says when to try again.
func WriteError(w http.ResponseWriter, err error) {
	status := Status(err)
	code := api.ErrorCode(fault.KindOf(err).String())
	var r *refusal
	if errors.As(err, &r) {
		code = r.code
	}
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	body := api.ErrorAnswer{Error: api.Error{Code: code, Message: message(err), Field: fault.FieldOf(err)}}
	WriteJSON(w, status, &body)
}

// message is the cause without the operations that led to it: they are for
// logs.
func message(err error) string {
	var e *fault.Error
	for errors.As(err, &e) {
		err = e.Err
	}
	return err.Error()
}

// WriteJSON answers with v as JSON; v is of a type of package api.
func WriteJSON(w http.ResponseWriter, status int, v any) {
	e := encoders.Get().(*encoder)
	defer e.free()
	if err := e.json.Encode(v); err != nil {
		http.Error(w, "the answer cannot be written as JSON", http.StatusInternalServerError)
		return
	}
	w.Header()["Content-Type"] = jsonType
	writeBody(w, status, e.Bytes())
}

func writeBody(w http.ResponseWriter, status int, body []byte) {
	w.Header()["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may have gone; nobody else is to be told
}

func (c *call) write(w http.ResponseWriter, status int, body []byte) {
	c.seen.Status = status
	writeBody(w, status, body)
}

func (c *call) writeJSON(w http.ResponseWriter, v any) {
	c.seen.Status = http.StatusOK
	WriteJSON(w, http.StatusOK, v)
}

// Refuse answers with an error. A body that nobody read may never end, so the
// connection is closed, not read on.
func (c *call) Refuse(w http.ResponseWriter, r *http.Request, err error) {
	if r.ContentLength != 0 && !c.body {
		closeAfter(w)
	}
	c.seen.Status, c.seen.Err = Status(err), err
	WriteError(w, err)
}

// WrongMethod answers 405.
func (c *call) WrongMethod(w http.ResponseWriter, r *http.Request, allow string) {
	w.Header().Set("Allow", allow)
	c.Refuse(w, r, wrongMethod(r, allow))
}

// RefuseMethod answers 405 on a port that has no routes of package api; allow
// lists the methods that the path has.
func RefuseMethod(w http.ResponseWriter, r *http.Request, allow string) {
	w.Header().Set("Allow", allow)
	if r.ContentLength != 0 {
		closeAfter(w)
	}
	WriteError(w, wrongMethod(r, allow))
}

func wrongMethod(r *http.Request, allow string) error {
	err := fault.Newf(fault.Invalid, op, "%s has no method %s; it has %s", r.URL.Path, r.Method, allow)
	return &refusal{http.StatusMethodNotAllowed, api.ErrorCodeMethodNotAllowed, err}
}

// NotFound answers 404.
func (c *call) NotFound(w http.ResponseWriter, r *http.Request) {
	c.Refuse(w, r, fault.Newf(fault.NotFound, op, "there is no %q on this port; /openapi.yaml describes what there is, and where", r.URL.Path))
}
