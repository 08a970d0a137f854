package searchapi

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"adshard/events/token"
	"adshard/internal/node/httpapi"
	"adshard/search"
	"adshard/search/words"
)

// nowhere is a ResponseWriter that discards everything.
type nowhere struct{ header http.Header }

func (n *nowhere) Header() http.Header         { return n.header }
func (n *nowhere) Write(b []byte) (int, error) { return len(b), nil }
func (n *nowhere) WriteHeader(int)             {}

// BenchmarkSearch measures only the handler: checks, expansion, auction and JSON. The searcher
// answers at once with five hits.
func BenchmarkSearch(b *testing.B) {
	f := &fake{answer: whole(hit(1, 1, 5e6, 360_000), hit(2, 2, 4e6, 360_000), hit(3, 3, 3e6, 360_000),
		hit(4, 4, 2e6, 360_000), hit(5, 5, 1e6, 360_000))}
	h := New(Config{Searcher: f, Reserve: 10_000})
	r := httptest.NewRequest(http.MethodGet, "/v1/search?q=usb+cable+black&slots=4&device=mobile&timeout_ms=500", nil)
	w := &nowhere{http.Header{}}
	b.ReportAllocs()
	for b.Loop() {
		clear(w.header)
		h.ServeHTTP(w, r)
	}
}

// BenchmarkEncode measures only the JSON of an answer with four ads, without and with event tokens.
func BenchmarkEncode(b *testing.B) {
	b.Run("plain", func(b *testing.B) { encode(b, nil) })
	b.Run("tokens", func(b *testing.B) { encode(b, oneKey(b)) })
}

func encode(b *testing.B, keys func() *token.Ring) {
	c := &call{Handler: &Handler{Config: Config{Reserve: 10_000, Expansions: search.NewExpansions(words.Default, nil, 0), EventKeys: keys}}}
	found := whole(hit(1, 1, 5e6, 360_000), hit(2, 2, 4e6, 360_000), hit(3, 3, 3e6, 360_000), hit(4, 4, 2e6, 360_000))
	req, err := c.request(b.Context(), "usb cable", 4, "mobile", "synonym", new(contextParams))
	if err != nil {
		b.Fatal(err)
	}
	won := c.place(req, found)
	var answer []byte
	b.ReportAllocs()
	for b.Loop() {
		if answer, err = appendAnswer(answer[:0], &Result{Request: req, Found: found, Won: won, signing: c.signing(req, time.Now())}); err != nil {
			b.Fatal(err)
		}
		answer = closeAnswer(answer, 812)
	}
}

// BenchmarkServe measures a search over a persistent TCP connection, with client and server in one
// process.
func BenchmarkServe(b *testing.B) {
	f := &fake{answer: whole(hit(1, 1, 5e6, 360_000), hit(2, 2, 4e6, 360_000))}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- httpapi.Serve(ctx, ln, New(Config{Searcher: f, Reserve: 10_000})) }()
	client := &http.Client{Transport: &http.Transport{}}
	b.ReportAllocs()
	for b.Loop() {
		res, err := client.Get("http://" + ln.Addr().String() + "/v1/search?q=usb+cable")
		if err != nil {
			b.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
	}
	client.CloseIdleConnections()
	cancel()
	if err := <-ended; err != nil {
		b.Error(err)
	}
}
