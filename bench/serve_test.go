package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestServe: a store without a database answers over HTTP until its context is done; a
// directory that is not a store is refused, and no store is made there.
func TestServe(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	run := func(ctx context.Context, out io.Writer, args ...string) error {
		c := ServeCommand()
		c.SetArgs(append(args, "--addr", "127.0.0.1:0", "--memory", "256MiB"))
		c.SetOut(out)
		c.SetErr(io.Discard)
		return c.ExecuteContext(ctx)
	}
	if err := run(t.Context(), io.Discard, "--barrels", dir); err == nil || !strings.Contains(err.Error(), "not a store") {
		t.Fatalf("no store: %v", err)
	}
	build := BuildCommand()
	build.SetArgs([]string{"--keywords", "2000", "--out", dir, "--data", "extract"})
	build.SetOut(io.Discard)
	build.SetErr(io.Discard)
	if err := build.Execute(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r, w := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, w, "--barrels", dir); w.Close() }()
	said := make([]byte, 200)
	text := ""
	for !strings.Contains(text, "ready ") || !strings.HasSuffix(text, "\n") {
		n, err := r.Read(said)
		if err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		text += string(said[:n])
	}
	url := strings.TrimSpace(text[strings.Index(text, "http://"):])
	res, err := http.Get(url + "/v1/search?q=usb+cable")
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(res.Body)
	if err != nil || res.Body.Close() != nil {
		t.Fatal(err)
	}
	var answer struct {
		Matched  int
		Coverage struct{ Complete bool }
	}
	if err := json.NewDecoder(bytes.NewReader(body)).Decode(&answer); err != nil || !answer.Coverage.Complete || !strings.HasPrefix(text, "2000 keywords\n") {
		t.Errorf("%v; %s; %s", err, text, body)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
