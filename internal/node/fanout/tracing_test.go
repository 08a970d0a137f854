package fanout

import (
	"context"
	"encoding/hex"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/propagation"

	"adshard/fault"
	"adshard/internal/node/tracing"
	"adshard/search"
)

// traced is a slave that records the trace context of its last search.
type traced struct {
	Answering
	mu   sync.Mutex
	from string // guarded by mu
}

func (s *traced) Search(ctx context.Context, r *search.Request) (*search.Answer, error) {
	s.mu.Lock()
	s.from = r.Trace
	s.mu.Unlock()
	return s.Answering.Search(ctx, r)
}

// TestTracedCalls: each slave gets the trace context of its own call, below the span of the
// fan-out, and none if the search is not traced. The timing of a search contains each call.
func TestTracedCalls(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	tracer, err := tracing.Open(tracing.Config{Endpoint: server.URL, Share: 1}, "master", "m", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer tracer.Close()
	a, b, c, _ := three()
	c.err = fault.Newf(fault.Unavailable, "x", "away")
	slaves := []*traced{{Answering: a}, {Answering: b}, {Answering: c}}
	m := &Map{Epoch: 1, View: 5}
	for i, name := range []string{"a", "b", "c"} {
		m.Shards = append(m.Shards, single(name, Concurrent(slaves[i])))
	}
	f := New(&listedMaps{list: []*Map{m}}, nil)
	span := tracer.Request(propagation.HeaderCarrier(http.Header{}), "search", time.Now())
	defer func() { span.End(time.Now(), nil) }()
	for _, c := range []struct {
		timing *search.Timing
		span   *tracing.Span
	}{{new(search.Timing), span}, {new(search.Timing), nil}, {nil, nil}} {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		if c.span != nil {
			ctx = tracing.With(ctx, c.span)
		}
		_, err := f.Search(ctx, &search.Request{Query: new(search.Query), Slots: 4, Timing: c.timing})
		if cancel(); err != nil {
			t.Fatal(err)
		}
		checkParts(t, c.timing)
		var contexts []string
		for _, s := range slaves {
			if c.span == nil {
				if s.from != "" {
					t.Errorf("a search that is not traced carries %x", s.from)
				}
				continue
			}
			if len(s.from) != 25 || hex.EncodeToString([]byte(s.from[:16])) != c.span.TraceID() || s.from == c.span.Context() || slices.Contains(contexts, s.from) {
				t.Errorf("a call carries %x, the fan-out has %x", s.from, c.span.Context())
			}
			contexts = append(contexts, s.from)
		}
	}
}

// checkParts checks the times of a search whose third shard is unavailable.
func checkParts(t *testing.T, timing *search.Timing) {
	t.Helper()
	if timing == nil {
		return
	}
	parts := timing.Parts()
	slices.SortFunc(parts, func(a, b search.Part) int { return int(a.Name[0]) - int(b.Name[0]) })
	if len(parts) != 3 {
		t.Fatalf("%+v", parts)
	}
	for i, p := range parts {
		if p.Name != string(rune('a'+i)) || p.Took <= 0 || time.Since(p.Began) > time.Minute || (p.Err != nil) != (i == 2) {
			t.Errorf("%+v", p)
		}
	}
}
