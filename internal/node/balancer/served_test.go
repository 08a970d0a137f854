package balancer

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"adshard/internal/node/admin"
	"adshard/internal/node/metrics"
)

// TestServedMeansEverySlave: a change that was waited for is in the store of every live slave. While one of them
// does not answer, the response is 202 and says so, until that slave no longer counts as alive. A standby
// balancer also makes changes, and does not claim to know whether they are served.
func TestServedMeansEverySlave(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2)
	r.Write(4, 3, 2, 1_000_000)
	r.start()
	for i := range 2 {
		r.slave(fmt.Sprint("slave-", i))
	}
	r.eventually("filled", r.whole)
	port := func(h *Host) func(path, body string) (int, string) {
		s := httptest.NewServer(h.AdminHandler(admin.Config{Registry: metrics.NewRegistry(), Ready: h.Ready, Log: r.log}))
		t.Cleanup(s.Close)
		return func(path, body string) (int, string) {
			res, err := http.Post(s.URL+path, "application/json", strings.NewReader(body))
			r.Must(err)
			defer res.Body.Close()
			text, err := io.ReadAll(res.Body)
			r.Must(err)
			return res.StatusCode, string(text)
		}
	}
	post := port(r.host)
	keyword := func(i int) string {
		return fmt.Sprintf(`{"group_id":%d,"text":"served %d","match_type":"broad"}`, i+1, i)
	}
	for i := range 4 {
		status, body := post("/v1/keywords?wait=served&wait_ms=8000", keyword(i))
		newest, err := r.DB.Newest(t.Context())
		r.Must(err)
		for name, s := range r.slaves {
			if at := s.store.Position().GetClock(); status != http.StatusOK || !strings.Contains(body, `"served":true`) || at < newest.Clock {
				t.Errorf("%d %s, but %s is at %d of %d", status, body, name, at, newest.Clock)
			}
		}
	}
	r.stopSlave("slave-1")
	status, body := post("/v1/keywords?wait=served&wait_ms=200", keyword(4))
	if status != http.StatusAccepted || !strings.Contains(body, `"served":false`) || !strings.Contains(body, `"text":"served 4"`) {
		t.Errorf("while a slave does not answer: %d %s", status, body)
	}
	r.b.mu.Lock()
	r.b.slaves["slave-1"].seen = time.Now().Add(-aliveFor)
	r.b.mu.Unlock()
	if status, body := post("/v1/keywords?wait=served&wait_ms=8000", keyword(5)); status != http.StatusOK {
		t.Errorf("when it is not alive: %d %s", status, body)
	}

	standby, stop := r.standBy(r.DB)
	r.eventually("it stands by", func() bool { return standby.standby.Load() != nil })
	begin := time.Now()
	status, body = port(standby)("/v1/keywords?wait=served&wait_ms=8000", keyword(6))
	if status != http.StatusAccepted || !strings.Contains(body, `"effect":"created"`) || time.Since(begin) > 4*time.Second {
		t.Errorf("of a standby: %d %s after %v", status, body, time.Since(begin))
	}
	stop()
}
