package balancer

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"adshard/internal/node/admin"
	"adshard/internal/node/metrics"
)

// TestAdminBeforeItLeads: the admin port of a balancer that neither leads nor stands by yet answers
// all requests, most of them with "try again".
func TestAdminBeforeItLeads(t *testing.T) {
	r := newRig(t, 1)
	host := &Host{db: r.DB, log: slog.New(slog.DiscardHandler)}
	standing := new(standby)
	handler := host.AdminHandler(admin.Config{Registry: metrics.NewRegistry(), Ready: host.Ready, Log: host.log})
	ask := func(method, path string) int {
		t.Helper()
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, "http://localhost"+path, http.NoBody))
		if w.Code == http.StatusInternalServerError {
			t.Errorf("%s %s: %s", method, path, w.Body)
		}
		return w.Code
	}
	for _, state := range []*standby{nil, standing, nil} { // in the last state it is taking over
		host.standby.Store(state)
		for pattern, methods := range admin.Routes() {
			path := strings.NewReplacer("{id}", "1", "{name}", "slave-1", "{slice}", "1").Replace(pattern)
			for _, method := range methods {
				if strings.HasPrefix(path, "/v1/balance") || strings.HasPrefix(path, "/v1/slaves") {
					if got := ask(method, path); got != http.StatusServiceUnavailable {
						t.Errorf("%s %s: %d", method, path, got)
					}
				}
			}
		}
	}
}
