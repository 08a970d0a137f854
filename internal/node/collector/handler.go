package collector

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"runtime/debug"
	"sync/atomic"
	"time"

	"adshard/events"
	"adshard/events/store"
	"adshard/fault"
	"adshard/internal/node/httpapi"
	"adshard/internal/node/httpapi/api"
)

const (
	op = "http: events"
	// MaxEvents is how many events a request may have.
	MaxEvents = 5000
	// MaxBody is how many bytes the body of a request may have.
	MaxBody  = 2 << 20
	bodyTime = 5 * time.Second
	// beaconContent is the content type of a text that navigator.sendBeacon sends: browsers send it without a
	// preflight request.
	beaconContent = "text/plain"
	// countTime is how long a batch may take in the database.
	countTime = 5 * time.Second
)

// handler answers POST /v1/events.
type handler struct {
	counter *events.Counter
	named   *events.Named
	metrics *eventMetrics
	places  chan struct{} // one for each batch under way
	log     *slog.Logger
	failing atomic.Bool // the last batch could not be counted, which has been logged
}

func newHandler(c *events.Counter, n *events.Named, m *eventMetrics, most int, log *slog.Logger) *handler {
	return &handler{counter: c, named: n, metrics: m, places: make(chan struct{}, most), log: log}
}

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	answer, err := h.serve(w, r)
	if err != nil {
		h.metrics.refusedBatch(err)
		httpapi.WriteError(w, err)
		return
	}
	h.metrics.seconds.Observe(time.Since(began).Seconds())
	httpapi.WriteJSON(w, http.StatusOK, answer)
}

// serve counts the events of a request. A panic fails only this request.
func (h *handler) serve(w http.ResponseWriter, r *http.Request) (answer *api.EventsAnswer, err error) {
	defer fault.Recover(op, &err, func(cause any) {
		h.log.Error("a request panicked; please report it", "cause", cause, "stack", string(debug.Stack()))
	})
	if err := h.check(w, r); err != nil {
		return nil, err
	}
	select {
	case h.places <- struct{}{}:
		defer func() { <-h.places }()
	default:
		w.Header().Set("Connection", "close") // the body has not been read
		return nil, fault.Newf(fault.Overloaded, op, "there are too many batches under way: send this one again after a pause")
	}
	body, err := httpapi.ReadJSON(w, r, bodyTime, MaxBody, beaconContent)
	if err != nil {
		return nil, err
	}
	given, err := parse(body)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), countTime)
	defer cancel()
	if err := h.named.Confirm(ctx); err != nil {
		return nil, h.elsewhere(err)
	}
	outcomes, err := h.counter.Count(ctx, given)
	if err != nil {
		return nil, h.away(r.Context(), err)
	}
	if h.failing.CompareAndSwap(true, false) {
		h.log.Info("events are counted again")
	}
	return h.answer(given, outcomes), nil
}

// check returns an error for a request that is not a POST of events.
func (h *handler) check(w http.ResponseWriter, r *http.Request) error {
	var err error
	switch {
	case r.URL.Path != "/v1/events":
		err = fault.Newf(fault.NotFound, op, "there is no %q on this port, only /v1/events", r.URL.Path)
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", http.MethodPost)
		err = httpapi.WrongMethod(r, http.MethodPost)
	case r.URL.RawQuery != "":
		err = api.FromQuery(api.None{}, r.URL.RawQuery)
	}
	if err != nil && r.ContentLength != 0 {
		w.Header().Set("Connection", "close") // an unread body may never end
	}
	return err
}

// elsewhere returns the error of a collector whose events database is not the one in use. Only the log names the
// databases.
func (h *handler) elsewhere(err error) error {
	if h.failing.CompareAndSwap(false, true) {
		h.log.Error("events are not counted; clients are to send them to another collector", "err", err)
	}
	return fault.Newf(fault.Unavailable, op, "this collector does not count, since another database of events does: send the batch to another collector; /readyz of its admin port says what to do")
}

// away turns a database error into a 503: all that the client can do is send the batch again. The cause and the
// place of the database go to the log only, since the client may be anyone.
func (h *handler) away(client context.Context, err error) error {
	if client.Err() == nil && h.failing.CompareAndSwap(false, true) {
		h.log.Error("events cannot be counted; clients are to send them again", "err", err)
	}
	kind := fault.KindOf(err)
	switch kind {
	case fault.Unavailable, fault.Locked, fault.NoSpace, fault.Overloaded:
	default:
		kind = fault.Unavailable
	}
	return fault.Newf(kind, op, "the events could not be counted, or it is not known whether they were: send the batch again")
}

// parse reads a batch. Errors: fault.Invalid.
func parse(body []byte) (given []events.Given, err error) {
	err = api.FromObject(body, func(d *json.Decoder, name string) error {
		if name != "events" {
			return api.Unknown(name, "events")
		}
		given, err = list(d, min(MaxEvents, 1+bytes.Count(body, []byte{','})/2))
		return err
	})
	if err == nil && len(given) == 0 {
		err = fault.Field(op, "events", "there are no events: 1 to %d are allowed", MaxEvents)
	}
	return given, err
}

// list reads the events of a body one by one, so that a body of a million elements costs no more memory than
// MaxEvents. `room` is an upper bound for the number of events, as far as it is known.
func list(d *json.Decoder, room int) ([]events.Given, error) {
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return nil, fault.Field(op, "events", "events must be an array of events")
	}
	given := make([]events.Given, 0, room)
	for d.More() {
		n := len(given)
		if n == MaxEvents {
			return nil, fault.Field(op, "events", "there are more than %d events", MaxEvents)
		}
		e, err := one(d)
		if err != nil {
			return nil, fault.Field(op, "events", "event %d: %s", n, fault.Cause(err))
		}
		given = append(given, e)
	}
	_, err := d.Token()
	if err != nil {
		err = fault.Field(op, "events", "the body is not JSON: the array does not end")
	}
	return given, err
}

// one reads an event.
func one(d *json.Decoder) (e events.Given, err error) {
	hasToken := false
	err = api.Fields(d, func(name string) error {
		if name != "kind" && name != "token" {
			return api.Unknown(name, "kind", "token")
		}
		t, err := d.Token()
		text, ok := t.(string)
		if err != nil || !ok {
			return fault.Field(op, name, "%s must be a string", name)
		}
		if name == "token" {
			e.Token, hasToken = text, true
			return nil
		}
		e.Kind, err = kind(text)
		return err
	})
	switch {
	case err != nil:
	case e.Kind == 0:
		err = fault.Field(op, "kind", "it has no kind: it is impression or click")
	case !hasToken:
		err = fault.Field(op, "token", "it has no token")
	}
	return e, err
}

func kind(text string) (store.Kind, error) {
	switch text {
	case "impression":
		return store.Impression, nil
	case "click":
		return store.Click, nil
	}
	return 0, fault.Field(op, "kind", "it has the kind %q: it is impression or click", shorten(text))
}

func shorten(s string) string { return s[:min(len(s), 32)] }

// answer makes the answer that says which events were counted, and counts the outcomes in the metrics.
func (h *handler) answer(given []events.Given, outcomes []events.Outcome) *api.EventsAnswer {
	var counted [events.Outcomes]int
	a := &api.EventsAnswer{Refused: []api.RefusedEvent{}}
	for i, o := range outcomes {
		counted[o]++
		h.metrics.count(given[i].Kind, o)
		if o != events.Counted && o != events.Duplicate {
			a.Refused = append(a.Refused, api.RefusedEvent{Index: i, Reason: api.RefusedEventReason(o.String())})
		}
	}
	a.Counted, a.Duplicate = counted[events.Counted], counted[events.Duplicate]
	return a
}
