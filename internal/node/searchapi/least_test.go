package searchapi

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"adshard/fault"
	"adshard/search"
)

// TestMinClock: the searcher learns how new the answer must be, from GET and POST. If that cannot
// be reached, the answer is a special 503 that says how old the data are.
func TestMinClock(t *testing.T) {
	f := &fake{answer: whole()}
	f.answer.Lag = 1234 * time.Millisecond
	h := New(Config{Searcher: f})
	want := search.Position{Clock: 0x5f, Mark: 7}
	resp, body := get(t, h, "/v1/search?q=a&min_clock="+want.String())
	if resp.StatusCode != http.StatusOK || f.asked.Least != want || !strings.Contains(body, `"lag_ms":1234}`) {
		t.Errorf("%d, asked for %v: %s", resp.StatusCode, f.asked.Least, body)
	}
	f.asked = nil
	resp, _ = ask(t, h, post(`{"q":"a","min_clock":"`+want.String()+`"}`))
	if resp.StatusCode != http.StatusOK || f.asked.Least != want {
		t.Errorf("POST: %d, asked for %v", resp.StatusCode, f.asked)
	}
	f.err = fault.Newf(fault.Behind, "", "not yet")
	resp, body = get(t, h, "/v1/search?q=a&min_clock="+want.String())
	if resp.StatusCode != http.StatusServiceUnavailable || !strings.Contains(body, `"code":"behind"`) || resp.Header.Get("Retry-After") == "" {
		t.Errorf("%d: %s", resp.StatusCode, body)
	}
}
