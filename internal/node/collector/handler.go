package collector

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	// MaxEvents is how many events a request may have, MaxBody how many bytes.
	MaxEvents = 5000
	MaxBody   = 2 << 20
	bodyTime  = 5 * time.Second
	// countTime is how long a batch may take in the database.
	countTime = 5 * time.Second
)

// handler answers POST /v1/events.
type handler struct {
	counter *events.Counter
	metrics *metrics
	places  chan struct{} // one for each batch under way
	log     *slog.Logger
	failing atomic.Bool // the last batch could not be counted, and the log says so
}

func newHandler(c *events.Counter, m *metrics, most int, log *slog.Logger) *handler {
	return &handler{counter: c, metrics: m, places: make(chan struct{}, most), log: log}
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

// serve counts the events of a request. A panic is one failed request.
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
		w.Header().Set("Connection", "close") // the body is not read
		return nil, fault.Newf(fault.Overloaded, op, "there are too many batches under way: send this one again after a pause")
	}
	body, err := httpapi.ReadJSON(w, r, bodyTime, MaxBody)
	if err != nil {
		return nil, err
	}
	given, err := parse(body)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), countTime)
	defer cancel()
	outcomes, err := h.counter.Count(ctx, given)
	if err != nil {
		return nil, h.away(r.Context(), err)
	}
	if h.failing.CompareAndSwap(true, false) {
		h.log.Info("events are counted again")
	}
	return h.answer(given, outcomes), nil
}

// check refuses what is no request for events.
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
		w.Header().Set("Connection", "close") // a body that nobody reads may never end
	}
	return err
}

// away makes an error of the database one that is answered 503: what the client can do is
// send the batch again, whatever it is. What it is, and where the database is, is for the log:
// the client may be anybody.
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

// parse reads a batch. Errors are fault.Invalid.
func parse(body []byte) ([]events.Given, error) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	var batch struct {
		Events list `json:"events"`
	}
	if err := d.Decode(&batch); err != nil {
		return nil, fault.Field(op, "events", "the body is not as it should be: %v", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fault.Field(op, "", "there is something after the JSON object")
	}
	if len(batch.Events) == 0 {
		return nil, fault.Field(op, "events", "there are no events: 1 to %d are allowed", MaxEvents)
	}
	given := make([]events.Given, len(batch.Events))
	for i, e := range batch.Events {
		switch e.Kind {
		case "impression":
			given[i].Kind = store.Impression
		case "click":
			given[i].Kind = store.Click
		default:
			return nil, fault.Field(op, "events", "event %d has the kind %q: it is impression or click", i, shorten(e.Kind))
		}
		if e.Token == nil {
			return nil, fault.Field(op, "events", "event %d has no token", i)
		}
		given[i].Token = *e.Token
	}
	return given, nil
}

// list are the events of a body, read one by one: a body of a million elements costs no more
// memory than the events that there may be.
type list []struct {
	Kind  string  `json:"kind"`
	Token *string `json:"token"` // nil: none is given
}

// UnmarshalJSON implements json.Unmarshaler.
func (l *list) UnmarshalJSON(b []byte) error {
	if b[0] != '[' {
		return errors.New("events must be an array of events")
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	*l = make(list, 0, min(MaxEvents, 1+bytes.Count(b, []byte{','})/2))
	if _, err := d.Token(); err != nil {
		return err
	}
	for d.More() {
		n := len(*l)
		if n == MaxEvents {
			return fmt.Errorf("there are more than %d events", MaxEvents)
		}
		*l = append(*l, list{{}}...)
		if err := d.Decode(&(*l)[n]); err != nil {
			return err
		}
	}
	return nil
}

func shorten(s string) string { return s[:min(len(s), 32)] }

// answer says what became of the events, and counts it.
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
