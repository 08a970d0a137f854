package e2e

import (
	"context"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"adshard/internal/clustertest"
	"adshard/internal/node/up"
	"adshard/schema/pb"
)

// span is a span with the attributes of its process.
type span struct {
	*otlp.Span
	service, instance string
}

// attribute returns an attribute's text, or "" if there is none.
func (s *span) attribute(key string) string { return valueOf(s.Attributes, key) }

func valueOf(list []*common.KeyValue, key string) string {
	for _, a := range list {
		if a.Key == key {
			return a.Value.GetStringValue()
		}
	}
	return ""
}

// took returns how long a stage took, in µs, or −1 if the stage does not have it.
func took(stage *otlp.Span_Event) int64 {
	for _, a := range stage.Attributes {
		if a.Key == "adshard.took_us" {
			return a.Value.GetIntValue()
		}
	}
	return -1
}

// receiver receives spans by OTLP over HTTP.
type receiver struct {
	mu    sync.Mutex
	spans []span // under mu
	raw   []byte // all bytes received; under mu
}

// ServeHTTP implements http.Handler.
func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	var m collector.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(body, &m)
	}
	if err != nil || request.URL.Path != "/v1/traces" || request.Header.Get("Content-Type") != "application/x-protobuf" {
		http.Error(w, "no spans", http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.raw = append(r.raw, body...)
	for _, of := range m.ResourceSpans {
		for _, scope := range of.ScopeSpans {
			for _, s := range scope.Spans {
				r.spans = append(r.spans, span{s, valueOf(of.Resource.Attributes, "service.name"), valueOf(of.Resource.Attributes, "service.instance.id")})
			}
		}
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

// trace waits until a trace has n spans, and returns them.
func (r *receiver) trace(t *testing.T, id string, n int) (list []span) {
	t.Helper()
	for end := time.Now().Add(clustertest.Patience); ; time.Sleep(20 * time.Millisecond) {
		list = nil
		r.mu.Lock()
		for _, s := range r.spans {
			if hex.EncodeToString(s.TraceId) == id {
				list = append(list, s)
			}
		}
		r.mu.Unlock()
		if len(list) >= n || time.Now().After(end) {
			return list
		}
	}
}

// tree writes a trace as text, one line for each span, below its parent, with its process and its events. Spans of
// one parent are sorted by name.
func tree(list []span, parent string, depth int) string {
	var children []span
	for _, s := range list {
		if hex.EncodeToString(s.ParentSpanId) == parent {
			children = append(children, s)
		}
	}
	line := func(s span) string {
		text := s.Name + " of " + s.instance
		if s.Name == "shard" {
			text += " to " + s.attribute("adshard.replica")
		}
		for _, e := range slices.SortedFunc(slices.Values(s.Events), func(a, b *otlp.Span_Event) int { return strings.Compare(a.Name, b.Name) }) {
			text += ", " + e.Name
		}
		return text
	}
	slices.SortFunc(children, func(a, b span) int { return strings.Compare(line(a), line(b)) })
	var out strings.Builder
	for _, s := range children {
		out.WriteString(strings.Repeat("  ", depth) + line(s) + "\n" + tree(list, hex.EncodeToString(s.SpanId), depth+1))
	}
	return out.String()
}

// wantTree returns the trace of a search in a cluster of three slaves.
func wantTree() string {
	var out strings.Builder
	out.WriteString("search of master-0, auction, encode, expand\n  fan-out of master-0, merge\n")
	for _, slave := range []string{"slave-0", "slave-1", "slave-2"} {
		out.WriteString("    shard of master-0 to " + slave + "\n      slave search of " + slave + ", hits, scan, terms\n")
	}
	return out.String()
}

// TestTraces: an OpenTelemetry receiver gets the whole tree of a query that comes with a trace context, however
// slaves are called. Each span lies within its parent's time, and none belongs to another query. No span contains the
// query's text. Histograms have the trace as an exemplar.
func TestTraces(t *testing.T) {
	for _, transport := range []string{up.TransportStream, up.TransportDirect} {
		t.Run(transport, func(t *testing.T) {
			r := new(receiver)
			server := httptest.NewServer(r)
			defer server.Close()
			c := startCluster(t, importEditor(t, []byte(fates), 0), 3, false, "default", func(cfg *up.Config) {
				cfg.Transport = transport
				cfg.Traces.Endpoint, cfg.Traces.Share = server.URL+"/v1/traces", 0
			})
			const sampled, not = "0af7651916cd43dd8448eb211c80319c", "1af7651916cd43dd8448eb211c80319c"
			const parent = "b7ad6b7169203331"
			c.search(t, url.Values{"q": {"red lamp"}})
			c.traced(t, "00-"+not+"-"+parent+"-00")
			c.traced(t, "00-"+sampled+"-"+parent+"-01")
			want := wantTree()
			list := r.trace(t, sampled, strings.Count(want, "\n"))
			got := tree(list, parent, 0)
			if transport == up.TransportStream {
				got = withoutWaits(got)
			}
			if got != want {
				t.Errorf("the trace is\n%swant\n%s", got, want)
			}
			checkTimes(t, list)
			r.mu.Lock()
			if len(r.spans) != len(list) || strings.Contains(string(r.raw), "lamp") {
				t.Errorf("%d spans in all, %d of the trace; or they have the query", len(r.spans), len(list))
			}
			r.mu.Unlock()
			if transport == up.TransportStream {
				c.checkExemplars(t, sampled)
				c.checkCall(t, r)
			}
		})
	}
}

// withoutWaits returns a trace of searches over a stream without their waits for a turn.
func withoutWaits(tree string) string { return strings.ReplaceAll(tree, ", wait", "") }

// traced sends a query with a trace context.
func (c *cluster) traced(t *testing.T, from string) {
	t.Helper()
	c.pageWith(t, c.http+"/v1/search?q=red+lamp&timeout_ms=5000", http.Header{"Traceparent": {from}})
}

// checkTimes checks that each span lies within its parent, and that spans of calls name the shard that was called.
func checkTimes(t *testing.T, list []span) {
	t.Helper()
	byID := make(map[string]span)
	for _, s := range list {
		byID[string(s.SpanId)] = s
	}
	for _, s := range list {
		p, ok := byID[string(s.ParentSpanId)]
		if s.StartTimeUnixNano > s.EndTimeUnixNano || ok && (s.StartTimeUnixNano < p.StartTimeUnixNano || s.EndTimeUnixNano > p.EndTimeUnixNano) {
			t.Errorf("%s, %d to %d, is not within %s, %d to %d", s.Name, s.StartTimeUnixNano, s.EndTimeUnixNano, p.GetName(), p.GetStartTimeUnixNano(), p.GetEndTimeUnixNano())
		}
		for _, e := range s.Events {
			end := e.TimeUnixNano + 1000*uint64(took(e))
			if took(e) < 0 || e.TimeUnixNano < s.StartTimeUnixNano || end > s.EndTimeUnixNano {
				t.Errorf("%s, %d to %d, is not within %s, %d to %d", e.Name, e.TimeUnixNano, end, s.Name, s.StartTimeUnixNano, s.EndTimeUnixNano)
			}
		}
		if s.Name == "shard" && s.attribute("adshard.shard") == "" || s.Name == "search" && s.attribute("adshard.outcome") != "complete" {
			t.Errorf("%s has %v", s.Name, s.Attributes)
		}
	}
}

// checkExemplars checks that the histograms of stages name the trace, if read as OpenMetrics.
func (c *cluster) checkExemplars(t *testing.T, id string) {
	t.Helper()
	text := c.pageWith(t, c.admin+"/metrics", http.Header{"Accept": {"application/openmetrics-text; version=1.0.0"}})
	for _, stage := range []string{"request", "expand", "fan-out", "finish", "slave search"} {
		found := false
		for line := range strings.Lines(text) {
			found = found || strings.HasPrefix(line, "adshard_stage_seconds_bucket{") && strings.Contains(line, `stage="`+stage+`"`) && strings.Contains(line, `# {trace_id="`+id+`"}`)
		}
		if !found {
			t.Errorf("no exemplar of stage %s", stage)
		}
	}
}

// checkCall checks that a query over gRPC is traced, too.
func (c *cluster) checkCall(t *testing.T, r *receiver) {
	t.Helper()
	const id, parent = "2af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ctx = metadata.AppendToOutgoingContext(ctx, "traceparent", "00-"+id+"-"+parent+"-01")
	if _, err := c.calls.Search(ctx, &pb.AdsRequest{Q: "red lamp", TimeoutMs: 5000}); err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(wantTree(), ", encode", "", 1)
	if got := withoutWaits(tree(r.trace(t, id, strings.Count(want, "\n")), parent, 0)); got != want {
		t.Errorf("the trace of a call is\n%swant\n%s", got, want)
	}
}
