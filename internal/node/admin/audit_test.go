package admin_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"adshard/internal/node/access"
	"adshard/internal/node/admin"
	"adshard/internal/node/admin/admintest"
	"adshard/internal/node/metrics"
)

// TestChangesAreLoggedWithWhoMadeThem: the log names the operator but never the token, also for changes
// that were refused.
func TestChangesAreLoggedWithWhoMadeThem(t *testing.T) {
	const secret = "planted-secret-planted-secret"
	tokens, err := access.ParseTokens([]byte("operator alice " + secret + "\nreader bob " + secret + "2"))
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	log := slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{Level: slog.LevelDebug}))
	gate := &access.Gate{Guard: access.Guard{Table: access.NewTable(), Refused: func(who access.Identity, from, call string, err error) {
		log.Warn("refused", "by", who, "from", from, "call", call, "err", err)
	}}, Tokens: func() access.Tokens { return tokens }}
	h := admin.New(admin.Config{Registry: metrics.NewRegistry(), Ready: func() []string { return nil }, Control: admintest.NewControl(), Gate: gate, Log: log})
	post := func(path, token string) int {
		r := httptest.NewRequestWithContext(context.Background(), http.MethodPost, "http://localhost"+path, nil)
		r.Header.Set("Authorization", "Bearer "+token)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code
	}
	for _, c := range []struct {
		path, token string
		status      int
		logged      string
	}{
		{"/v1/balance/pause", secret, 200, `by="operator alice"`},
		{"/v1/slaves/none/drain", secret, 404, `by="operator alice"`},
		{"/v1/balance/pause", secret + "2", 403, `by="reader bob"`},
		{"/v1/balance/pause", secret + "3", 401, `by="somebody unknown"`},
	} {
		text.Reset()
		if status := post(c.path, c.token); status != c.status {
			t.Errorf("%s: %d, want %d", c.path, status, c.status)
		}
		if got := text.String(); !strings.Contains(got, c.logged) || !strings.Contains(got, "192.0.2.1") || strings.Contains(got, secret) {
			t.Errorf("%s is logged as %q, want %s", c.path, got, c.logged)
		}
	}
}

// TestMethodsThatAPathDoesNotHave: the answer names the methods of the path even before the caller is
// authenticated. It does not say who may use them.
func TestMethodsThatAPathDoesNotHave(t *testing.T) {
	gate := &access.Gate{Guard: access.Guard{Table: access.NewTable()}, Tokens: func() access.Tokens { return access.Tokens{} }}
	h := admin.New(admin.Config{Registry: metrics.NewRegistry(), Ready: func() []string { return nil }, Control: admintest.NewControl(),
		Gate: gate, Log: slog.New(slog.DiscardHandler)})
	for _, c := range []struct {
		method, path string
		status       int
		allow        string
	}{
		{"TRACE", "/livez", 405, "GET"},
		{"POST", "/readyz", 405, "GET"},
		{"PUT", "/v1/slaves", 405, "GET, POST"},
		{"DELETE", "/v1/balance", 405, "GET"},
		{"GET", "/console/login", 405, "POST"},
		{"HEAD", "/livez", 200, ""},
		{"HEAD", "/v1/slaves", 401, ""},
		{"GET", "/v1/slaves", 401, ""},
		{"POST", "/v1/slaves", 401, ""},
		{"PUT", "/v1/nonsense", 404, ""},
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), c.method, "http://localhost"+c.path, nil))
		if w.Code != c.status || w.Header().Get("Allow") != c.allow {
			t.Errorf("%s %s: %d, Allow %q", c.method, c.path, w.Code, w.Header().Get("Allow"))
		}
	}
}
