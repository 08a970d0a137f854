package bench

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestDropSpans(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- dropSpans(ctx, "127.0.0.1:0", w) }()
	lines := bufio.NewScanner(r)
	lines.Scan()
	for range 2 {
		answer, err := http.Post(strings.TrimPrefix(lines.Text(), "ready "), "application/x-protobuf", strings.NewReader("spans"))
		if err != nil {
			t.Fatal(err)
		}
		if err := answer.Body.Close(); err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("status %d, %v", answer.StatusCode, err)
		}
	}
	http.DefaultClient.CloseIdleConnections()
	cancel()
	lines.Scan()
	if got := lines.Text(); got != "2 exports, 10 bytes" {
		t.Errorf("it says %q", got)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
