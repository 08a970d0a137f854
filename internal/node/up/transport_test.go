package up

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// TestTheTransportChangesNoAnswer: whether the master asks the slaves of its process
// directly or over streams, answers and explanations are the same except for ids and times.
func TestTheTransportChangesNoAnswer(t *testing.T) {
	cfg := upConfig(t, adsDB(t, 20))
	varies := regexp.MustCompile(`"(request_id|took_us|lag_ms)":[^,}]+|"timing":\{[^\]]*\]\}`)
	var first [2]string
	for _, transport := range []string{TransportDirect, TransportStream} {
		cfg.Transport = transport
		if direct := (&up{cfg: cfg}).local() != nil; direct != (transport == TransportDirect) {
			t.Fatalf("%s: direct is %v", transport, direct)
		}
		c := startUp(t, cfg)
		for i, path := range []string{"/v1/search?counts=exact&slots=20&timeout_ms=5000&q=usb+cable", "/v1/explain?timeout_ms=5000&q=usb+cable"} {
			body := varies.ReplaceAllString(get(t, c.url+path, http.StatusOK), "")
			if !strings.Contains(body, `"complete":true`) {
				t.Fatalf("%s: %s", transport, body)
			}
			if first[i] == "" {
				first[i] = body
			}
			if body != first[i] {
				t.Errorf("%s: %s\nby %s: %s", TransportDirect, first[i], transport, body)
			}
		}
		if err := c.stop(); err != nil {
			t.Fatal(err)
		}
	}
}
