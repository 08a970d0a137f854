package admin_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// zipped compresses a body in the way of clients.
func zipped(t *testing.T, body string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write([]byte(body))
	if err = errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestCompressedBodies: each call for data that reads a body reports that a compressed one is compressed, and changes nothing.
func TestCompressedBodies(t *testing.T) {
	w := newWorld(t)
	w.fill()
	before, calls := w.clock(), 0
	for path := range w.doc.At("paths").(map[string]any) {
		for _, method := range []string{"POST", "PATCH"} {
			content, _ := w.doc.At("paths", path, strings.ToLower(method), "requestBody", "content").(map[string]any)
			if content == nil || !slices.Contains(w.doc.Operations("data"), method+" "+path) {
				continue
			}
			calls++
			where := strings.NewReplacer("{id}", "1", "{name}", "slave-0").Replace(path)
			if method == "PATCH" {
				where += map[string]string{"keywords": "?group=1", "negatives": "?group=1", "ads": "?group=1"}[strings.Split(path, "/")[2]]
			}
			header := []string{"Content-Encoding", "gzip"}
			if content["application/octet-stream"] != nil {
				header = append(header, "Content-Type", "application/octet-stream")
			} else if a := w.ask(method, where, zipped(t, "{}")); a.status != http.StatusUnsupportedMediaType || !strings.Contains(a.body, "compressed") {
				t.Errorf("%s %s, undeclared: %d %s", method, where, a.status, a.body)
			}
			a := w.ask(method, where, zipped(t, "{}"), header...)
			if a.status != http.StatusUnsupportedMediaType || !strings.Contains(a.body, `"field":"Content-Encoding"`) || a.header.Get("Accept-Encoding") != "identity" {
				t.Errorf("%s %s: %d %s", method, where, a.status, a.body)
			}
		}
	}
	if w.clock() != before || calls < 14 {
		t.Errorf("something was changed, or there are only %d calls", calls)
	}
	w.must(http.MethodPost, "/v1/advertisers", `{"name":"plain"}`, "Content-Encoding", "identity")
}
