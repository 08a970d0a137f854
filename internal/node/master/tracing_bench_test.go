package master

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"syscall"
	"testing"
	"time"

	"adshard/internal/node/fanout"
	"adshard/internal/node/fanout/choice"
	"adshard/internal/node/searchapi"
	"adshard/internal/node/tracing"
	"adshard/search"
	"adshard/search/display"
	"adshard/search/words"
)

// at is a slave that answers at once.
type at struct{ answer search.Answer }

func (s *at) Search(context.Context, *search.Request) (*search.Answer, error) {
	answer := s.answer
	return &answer, nil
}

func (s *at) Explain(context.Context, *search.Request, int) (*search.Explanation, error) {
	return &search.Explanation{}, nil
}

// one is a map that does not change.
type one struct{ m *fanout.Map }

func (o one) Current() *fanout.Map                           { return o.m }
func (o one) Newer(context.Context, *fanout.Map) *fanout.Map { return nil }

// nowhere is a ResponseWriter that discards everything.
type nowhere struct{ header http.Header }

func (n *nowhere) Header() http.Header         { return n.header }
func (n *nowhere) Write(b []byte) (int, error) { return len(b), nil }
func (n *nowhere) WriteHeader(int)             {}

// answering returns a master's handler with three slaves that answer at once with five hits each.
// It sends traces to `endpoint`; if that is "", nothing is traced.
func answering(b *testing.B, endpoint string, share float64) http.Handler {
	b.Helper()
	tracer, err := tracing.Open(tracing.Config{Endpoint: endpoint, Share: share}, "master", "master-0", slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(tracer.Close)
	m := &fanout.Map{Epoch: 1, View: 1}
	lo := uint64(0)
	for s := range uint64(3) {
		hi := ^uint64(0) / 3 * (s + 1)
		a := &at{search.Answer{Width: search.IntervalWidth(lo, hi), Shards: 1, Answered: 1}}
		lo = hi + 1
		for i := range uint64(5) {
			id := 10*i + s + 1
			a.answer.Hits = append(a.answer.Hits, search.Hit{Keyword: id, Advertiser: id, Score: (1000 - id) * 1e6, Quality: 360_000, Ad: id,
				Display: display.New("advertiser", "campaign", "group", "usb cable", &display.Ad{Headlines: []string{"headline"}, FinalURL: "https://shop.example/usb"})})
		}
		name := fmt.Sprint("slave-", s)
		m.Shards = append(m.Shards, fanout.NewShard(name, a.answer.Width, choice.NewShard(), fanout.NewReplica(name, fanout.Concurrent(a))))
	}
	return searchapi.New(searchapi.Config{Searcher: fanout.New(one{m}, nil), Reserve: 10_000, Tracer: tracer,
		Expansions: search.NewExpansions(words.Default, nil, searchapi.ExpansionBytes)})
}

// BenchmarkTracing measures the processor time that tracing costs a master. In this benchmark,
// slaves and the network take none. In each round, tracing is off, traces 1 % of searches and
// traces all searches in turn, in a changing order. The reported ratios are the medians over all
// rounds, with quartiles. Run it with -benchtime 40x.
func BenchmarkTracing(b *testing.B) {
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	b.Cleanup(receiver.Close) // after the tracers
	ways := []http.Handler{answering(b, "", 0), answering(b, "", 0), answering(b, receiver.URL, 0.01), answering(b, receiver.URL, 1)}
	took := make([][]float64, len(ways))
	for round := 0; b.Loop(); round++ {
		for i := range ways {
			way := (i + round) % len(ways)
			took[way] = append(took[way], turn(b, ways[way]))
		}
	}
	b.ReportMetric(quarters(took[0])[1], "off-µs/search")
	for i, name := range []string{"off/off", "1%/off", "all/off"} {
		ratios, more := make([]float64, len(took[0])), make([]float64, len(took[0]))
		for k := range ratios {
			ratios[k], more[k] = took[i+1][k]/took[0][k], took[i+1][k]-took[0][k]
		}
		q, d := quarters(ratios), quarters(more)
		b.Logf("%-8s %.3f (%.3f to %.3f), %.2f µs more (%.2f to %.2f), of %d rounds", name, q[1], q[0], q[2], d[1], d[0], d[2], len(ratios))
		b.ReportMetric(q[1], name)
	}
}

// turn returns the processor time of a search in µs.
func turn(b *testing.B, h http.Handler) float64 {
	b.Helper()
	const searches = 20_000
	r := httptest.NewRequest(http.MethodGet, "/v1/search?q=usb+cable&slots=4&device=mobile&timeout_ms=500", nil)
	w := &nowhere{http.Header{}}
	began := used(b)
	for range searches {
		clear(w.header)
		h.ServeHTTP(w, r)
	}
	return float64((used(b) - began).Nanoseconds()) / 1e3 / searches
}

// used returns the processor time that the process has used so far.
func used(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// quarters returns the values below which a quarter, half and three quarters of the values are.
func quarters(values []float64) [3]float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return [3]float64{sorted[n/4], sorted[n/2], sorted[3*n/4]}
}
