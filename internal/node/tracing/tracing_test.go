package tracing

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/propagation"

	"adshard/fault"
	"adshard/internal/node/config"
)

// TestOffCostsNothing: no call of a tracer or span that is nil allocates.
func TestOffCostsNothing(t *testing.T) {
	var tracer *Tracer
	headers := propagation.HeaderCarrier(http.Header{"Traceparent": {"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}})
	now, failed, ctx := time.Now(), errors.New("failed"), t.Context()
	allocated := testing.AllocsPerRun(100, func() {
		span := tracer.Request(headers, "search", now)
		child := span.Child("fan-out", now)
		child.Stage("merge", now, time.Millisecond)
		call := child.Call("shard", now)
		if call.Context() != "" || tracer.Continue(call.Context(), "slave search", now) != nil || span.TraceID() != "" || Of(ctx) != nil {
			t.Error("what is off has a trace")
		}
		call.End(now, failed)
		span.Set()
		span.End(now, nil)
	})
	if allocated > 0 {
		t.Errorf("%v allocations of a search that is not traced", allocated)
	}
	tracer.Register(nil)
	tracer.Close()
}

// open opens a tracer that exports to a server, which answers with a status.
func open(t *testing.T, share float64, status *atomic.Int32, out *bytes.Buffer) *Tracer {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-protobuf")
		w.WriteHeader(int(status.Load()))
	}))
	t.Cleanup(server.Close)
	tracer, err := Open(Config{Endpoint: server.URL + "/v1/traces", Share: share}, "master", "master-0", slog.New(slog.NewTextHandler(out, nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tracer.Close)
	return tracer
}

func statusOf(n int32) *atomic.Int32 {
	status := new(atomic.Int32)
	status.Store(n)
	return status
}

// TestSampling: a trace context says whether the search is traced; of searches without a
// readable one, a share is. What has no context is not continued.
func TestSampling(t *testing.T) {
	const id = "0af7651916cd43dd8448eb211c80319c"
	for _, c := range []struct {
		share  float64
		header string
		traced bool
		id     string
	}{
		{0, "", false, ""}, {1, "", true, ""},
		{0, "00-" + id + "-b7ad6b7169203331-01", true, id}, {1, "00-" + id + "-b7ad6b7169203331-00", false, ""},
		{0, "00-" + id + "-b7ad6b7169203331", false, ""}, {1, "nonsense", true, ""},
	} {
		tracer := open(t, c.share, statusOf(200), new(bytes.Buffer))
		headers := propagation.HeaderCarrier(http.Header{})
		if c.header != "" {
			headers.Set("traceparent", c.header)
		}
		span := tracer.Request(headers, "search", time.Now())
		if (span != nil) != c.traced || c.id != "" && span.TraceID() != c.id {
			t.Errorf("share %v, %q: traced %t as %q", c.share, c.header, span != nil, span.TraceID())
		}
		span.End(time.Now(), nil)
		for _, from := range []string{"", "short", strings.Repeat("\x00", contextBytes), strings.Repeat("\x01", contextBytes-1) + "\x00"} {
			if tracer.Continue(from, "slave search", time.Now()) != nil {
				t.Errorf("%q is continued", from)
			}
		}
	}
}

// TestShare: about the share of the requests without a context is traced; the others cost
// no more than the choice.
func TestShare(t *testing.T) {
	tracer := open(t, 0.1, statusOf(200), new(bytes.Buffer))
	headers := propagation.HeaderCarrier(http.Header{})
	const requests = 10_000
	traced := 0
	for range requests {
		if span := tracer.Request(headers, "search", time.Now()); span != nil {
			traced++
			span.End(time.Now(), nil)
		}
	}
	if traced < requests/10*8/10 || traced > requests/10*12/10 { // 6 standard deviations
		t.Errorf("%d of %d are traced", traced, requests)
	}
	tracer.share = 0
	if n := testing.AllocsPerRun(100, func() { _ = tracer.Request(headers, "search", time.Now()) }); n > 0 {
		t.Errorf("%v allocations of a request that is not sampled", n)
	}
}

// TestContext: what a span gives to another process is continued there; nothing else is
// taken for one.
func TestContext(t *testing.T) {
	tracer := open(t, 1, statusOf(200), new(bytes.Buffer))
	span := tracer.Request(propagation.HeaderCarrier(http.Header{}), "search", time.Now())
	from := span.Context()
	if len(from) != contextBytes {
		t.Errorf("%x", from)
	}
	next := tracer.Continue(from, "slave search", time.Now())
	if next.TraceID() != span.TraceID() || next.Context() == from {
		t.Errorf("%s continues %s", next.TraceID(), span.TraceID())
	}
	next.End(time.Now(), nil)
	span.End(time.Now(), nil)
	for _, bad := range []string{"", "short", from + "0", string(make([]byte, contextBytes))} {
		if tracer.Continue(bad, "slave search", time.Now()) != nil {
			t.Errorf("%q is taken for a trace context", bad)
		}
	}
}

// TestAReceiverThatFails: spans that cannot be exported are counted, the log says so
// once, and the end of the process waits for a short time.
func TestAReceiverThatFails(t *testing.T) {
	out, status := new(bytes.Buffer), statusOf(http.StatusBadRequest)
	tracer := open(t, 1, status, out)
	registry := prometheus.NewRegistry()
	tracer.Register(registry)
	search := func() {
		span := tracer.Request(propagation.HeaderCarrier(http.Header{}), "search", time.Now())
		span.End(time.Now(), fault.Newf(fault.Deadline, "x", "late"))
		_ = tracer.provider.ForceFlush(t.Context())
	}
	search()
	search()
	if n := strings.Count(out.String(), "traces cannot be exported"); tracer.lost.Load() != 2 || n != 1 {
		t.Errorf("%d are lost, %d lines: %s", tracer.lost.Load(), n, out)
	}
	status.Store(http.StatusOK)
	search()
	if tracer.lost.Load() != 2 {
		t.Errorf("%d are lost", tracer.lost.Load())
	}
	if m, err := registry.Gather(); err != nil || len(m) != 1 || m[0].GetName() != "adshard_spans_lost_total" || m[0].Metric[0].Counter.GetValue() != 2 {
		t.Error(m, err)
	}
	status.Store(http.StatusServiceUnavailable) // the library tries again
	tracer.Request(propagation.HeaderCarrier(http.Header{}), "search", time.Now()).End(time.Now(), nil)
	began := time.Now()
	tracer.shutdown(100 * time.Millisecond)
	if took := time.Since(began); took > 30*time.Second { // the library would try for a minute
		t.Errorf("the end took %v", took)
	}
}

// TestCheck: an endpoint is a URL, a share is one.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		Config
		ok bool
	}{
		{DefaultConfig(), true}, {Config{"http://127.0.0.1:4318/v1/traces", 1}, true}, {Config{"127.0.0.1:4318", 1}, false},
		{Config{"ftp://x/v1", 1}, false}, {Config{"", 1.5}, false}, {Config{"", -1}, false},
	} {
		var k config.Check
		c.Check(&k, "traces")
		if (k.Err() == nil) != c.ok {
			t.Errorf("%+v: %v", c.Config, k.Err())
		}
	}
}
