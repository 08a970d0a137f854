package httpapi

import (
	"net/http"
	"strconv"

	"adshard/fault"
	"adshard/internal/node/httpapi/api"
)

// refusal says how an error is answered.
type refusal struct {
	status int
	code   api.ErrorCode // "" stands for the name of the error's kind
}

// refusals are the answers to errors, by kind. WithStatus makes errors with other HTTP statuses or
// codes.
var refusals = fault.Classes[refusal]{
	Kinds: map[fault.Kind]refusal{
		fault.Invalid:     {status: http.StatusBadRequest},
		fault.NotFound:    {status: http.StatusNotFound},
		fault.Conflict:    {status: http.StatusConflict},
		fault.Deadline:    {status: http.StatusGatewayTimeout},
		fault.Unavailable: {status: http.StatusServiceUnavailable},
		fault.Overloaded:  {status: http.StatusServiceUnavailable},
		fault.Stale:       {status: http.StatusServiceUnavailable},
		fault.Cancelled:   {status: http.StatusServiceUnavailable},
		fault.Locked:      {status: http.StatusServiceUnavailable},
		fault.NoSpace:     {status: http.StatusServiceUnavailable},
		fault.Behind:      {status: http.StatusServiceUnavailable},
		fault.Forbidden:   {status: http.StatusForbidden},
	},
	Other: refusal{status: http.StatusInternalServerError},
}

// WithStatus returns err with a status and a code of its own.
func WithStatus(status int, code api.ErrorCode, err error) error {
	return fault.Classify(err, refusal{status, code})
}

// Forbidden returns an error that is answered 403.
func Forbidden(format string, args ...any) error {
	return WithStatus(http.StatusForbidden, api.ErrorCodeForbidden, fault.Newf(fault.Invalid, op, format, args...))
}

// Unauthenticated returns an error that is answered 401: the request shows no identity.
func Unauthenticated(format string, args ...any) error {
	return WithStatus(http.StatusUnauthorized, api.ErrorCodeUnauthenticated, fault.Newf(fault.Forbidden, op, format, args...))
}

// PreconditionFailed returns an error that is answered 412: a condition of the request no longer holds.
func PreconditionFailed(format string, args ...any) error {
	return WithStatus(http.StatusPreconditionFailed, "", fault.Newf(fault.Conflict, op, format, args...))
}

// Gone returns an error that is answered 410: what was asked for is no longer kept.
func Gone(err error) error { return WithStatus(http.StatusGone, "", err) }

// WrongHost returns an error that is answered 421: the request names another host.
func WrongHost(format string, args ...any) error {
	return WithStatus(http.StatusMisdirectedRequest, api.ErrorCodeWrongHost, fault.Newf(fault.Invalid, op, format, args...))
}

// Status returns the HTTP status of an error.
func Status(err error) int { return refusals.Of(err).status }

// WriteError answers with the error's status and {"error":{"code","message","field"}}; a 503 also says
// when to try again.
func WriteError(w http.ResponseWriter, err error) {
	status := Status(err)
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	WriteJSON(w, status, &api.ErrorAnswer{Error: Error(err)})
}

// Error returns an error in the form that answers have.
func Error(err error) api.Error {
	code := refusals.Of(err).code
	if code == "" {
		code = api.ErrorCode(fault.KindOf(err).String())
	}
	return api.Error{Code: code, Message: fault.Cause(err), Field: fault.FieldOf(err)}
}

// WriteJSON answers with v as JSON. v must have a type of package api.
func WriteJSON(w http.ResponseWriter, status int, v any) {
	b := NewBuffer()
	defer b.Free()
	if err := b.json.Encode(v); err != nil {
		http.Error(w, "the answer cannot be written as JSON", http.StatusInternalServerError)
		return
	}
	w.Header()["Content-Type"] = jsonType
	WriteBody(w, status, b.Bytes())
}

// WriteBody answers with a body whose Content-Type is already set.
func WriteBody(w http.ResponseWriter, status int, body []byte) {
	w.Header()["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(status)
	_, _ = w.Write(body) // an error would mean that the client has gone
}

// WriteEncoded answers 200 with a body that is JSON already.
func WriteEncoded(w http.ResponseWriter, body []byte) {
	w.Header()["Content-Type"] = jsonType
	WriteBody(w, http.StatusOK, body)
}

// RefuseMethod answers 405 on a port that has no routes of package api. `allow` lists the methods of the
// path.
func RefuseMethod(w http.ResponseWriter, r *http.Request, allow string) {
	w.Header().Set("Allow", allow)
	if r.ContentLength != 0 {
		CloseAfter(w)
	}
	WriteError(w, WrongMethod(r, allow))
}

// WrongMethod returns an error that is answered 405. `allow` lists the methods of the path.
func WrongMethod(r *http.Request, allow string) error {
	err := fault.Newf(fault.Invalid, op, "%s has no method %s; it has %s", r.URL.Path, r.Method, allow)
	return WithStatus(http.StatusMethodNotAllowed, api.ErrorCodeMethodNotAllowed, err)
}

// RefusePath answers 404 on a port that has no routes of package api.
func RefusePath(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 {
		CloseAfter(w)
	}
	WriteError(w, NoPath(r))
}

// NoPath returns an error that is answered 404: the port has no such path.
func NoPath(r *http.Request) error {
	return fault.Newf(fault.NotFound, op, "there is no %q on this port; /openapi.yaml describes what there is, and where", r.URL.Path)
}
