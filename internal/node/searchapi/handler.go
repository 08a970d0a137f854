package searchapi

import (
	"fmt"
	"net/http"
	"runtime/debug"
	"time"

	"go.opentelemetry.io/otel/propagation"

	"adshard/fault"
	"adshard/internal/node/httpapi"
	"adshard/internal/node/httpapi/api"
	"adshard/internal/node/overload"
	"adshard/internal/node/tracing"
	"adshard/search"
)

const op = "http: request"

// Handler answers the requests of the public port. Make it with New.
type Handler struct {
	Config
	gate *overload.Gate
}

// call is one request under way. Its methods answer the operations.
type call struct {
	*Handler
	start   time.Time       // of the first byte
	body    bool            // ReadBody has read the body, or will close the connection
	asked   *api.SearchBody // the request, or nil until it has been read
	tags    search.Tags
	entry   *overload.Place // place of the search, after begin
	seen    Observation
	stack   []byte        // stack of a panic
	context resolved      // of the request
	span    *tracing.Span // nil if the request is not traced
	timed   bool          // the calls to shards are timed regardless of the configuration
}

var _ api.ServerInterface = (*call)(nil)

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := &call{Handler: h, start: httpapi.FirstByte(r)}
	c.seen.Operation = operation(r.URL.Path)
	id, err := c.requestID(r.Header)
	if err == nil {
		c.tags, err = Tags(r.Header[priorityHeader], r.Header[tenantHeader])
	}
	if id == "" {
		id = h.NewRequestID()
	}
	c.seen.RequestID = id
	w.Header()["X-Request-Id"] = []string{id}
	if h.Tracer != nil && c.seen.Operation == OperationSearch {
		c.trace(propagation.HeaderCarrier(r.Header))
	}
	if defect := c.serve(w, r, err); defect != nil {
		if c.seen.Status == 0 {
			c.Refuse(w, r, defect)
		}
		c.seen.Err = c.defect(defect)
	}
	c.observe()
}

// defect adds to an error the stack of the panic that caused it, if any.
func (c *call) defect(err error) error {
	if c.stack == nil {
		return err
	}
	return fmt.Errorf("%w\n%s", err, c.stack)
}

// observe passes the observation to the observer, and ends the span.
func (c *call) observe() {
	if c.span != nil {
		c.endSpan()
	}
	if c.Observer != nil {
		c.seen.Took = time.Since(c.start)
		c.Observer.Observe(&c.seen)
	}
}

// serve answers the request, or refuses it if `bad` is not nil. A panic becomes the returned error, so that it fails only this request.
func (c *call) serve(w http.ResponseWriter, r *http.Request, bad error) (err error) {
	defer fault.Recover(op, &err, func(any) { c.stack = debug.Stack() })
	if bad == nil && c.seen.Operation == operationExplain {
		bad = c.Names.Check(r)
	}
	switch {
	case bad != nil:
		c.Refuse(w, r, bad)
	case (r.Method == http.MethodGet || r.Method == http.MethodHead) && r.ContentLength != 0:
		c.Refuse(w, r, fault.Field(op, "", "a %s has no body; send the fields in the query string, or use POST", r.Method))
	default:
		api.Route(c, w, r)
	}
	return nil
}

// operation returns the name of a path's operation for observers.
func operation(path string) string {
	switch path {
	case "/v1/search":
		return OperationSearch
	case "/v1/explain":
		return operationExplain
	case "/openapi.yaml":
		return "openapi"
	}
	return "none"
}

// OpenAPI answers with the OpenAPI document.
func (c *call) OpenAPI(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/yaml")
	c.write(w, http.StatusOK, httpapi.Spec)
}

func (c *call) write(w http.ResponseWriter, status int, body []byte) {
	c.seen.Status = status
	httpapi.WriteBody(w, status, body)
}

func (c *call) writeJSON(w http.ResponseWriter, v any) {
	c.seen.Status = http.StatusOK
	httpapi.WriteJSON(w, http.StatusOK, v)
}

// Refuse answers with an error. If a body has neither been read nor arrived, it closes the connection, since such a body may never
// end.
func (c *call) Refuse(w http.ResponseWriter, r *http.Request, err error) {
	if r.ContentLength != 0 && !c.body && !httpapi.BodyArrived(r) {
		httpapi.CloseAfter(w)
	}
	c.seen.Status, c.seen.Err = httpapi.Status(err), err
	httpapi.WriteError(w, err)
}

// WrongMethod answers 405.
func (c *call) WrongMethod(w http.ResponseWriter, r *http.Request, allow string) {
	w.Header().Set("Allow", allow)
	c.Refuse(w, r, httpapi.WrongMethod(r, allow))
}

// NotFound answers 404.
func (c *call) NotFound(w http.ResponseWriter, r *http.Request) { c.Refuse(w, r, httpapi.NoPath(r)) }

// requestID returns the id in the request's headers, or "" if there is none or ids are ignored. Errors: fault.Invalid.
func (h *Handler) requestID(header http.Header) (string, error) {
	const name = "X-Request-Id"
	values := header[name]
	if len(values) == 0 || h.OwnRequestIDs {
		return "", nil
	}
	id := values[0]
	if len(values) > 1 {
		return "", api.Repeated(name)
	}
	if err := checkID(name, id); err != nil {
		return "", err
	}
	return id, nil
}

// checkID checks the id of a request. `name` is the name of the field that has it.
func checkID(name, id string) error {
	if len(id) < 1 || len(id) > 64 {
		return fault.Field(op, name, "%s has %d characters; 1 to 64 are allowed", name, len(id))
	}
	for i := range len(id) {
		if id[i] < ' ' || id[i] > '~' {
			return fault.Field(op, name, "%s may have printable ASCII characters only", name)
		}
	}
	return nil
}
