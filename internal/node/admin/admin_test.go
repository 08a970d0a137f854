package admin_test

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"adshard/fault"
	"adshard/internal/node/admin"
	"adshard/internal/node/admin/admintest"
	"adshard/internal/node/httpapi"
	"adshard/internal/node/metrics"
)

func handler(c admin.Control, why ...string) http.Handler {
	return admin.New(admin.Config{Registry: metrics.NewRegistry(), Ready: func() []string { return why },
		Control: c, Hosts: []string{"example.com"}, Log: slog.New(slog.DiscardHandler)})
}

func call(h http.Handler, method, path, body string, header ...string) *httptest.ResponseRecorder {
	var content io.Reader
	if body != "" {
		content = strings.NewReader(body)
	}
	r := httptest.NewRequest(method, path, content)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestCalls(t *testing.T) {
	for name, c := range map[string]struct {
		h                  http.Handler
		method, path, body string
		header             []string
		status             int
		want               string
	}{
		"live":              {handler(nil, "x"), "GET", "/livez", "", nil, 200, "ok"},
		"ready":             {handler(nil), "GET", "/readyz", "", nil, 200, "ready"},
		"not ready":         {handler(nil, "no map", "no room"), "GET", "/readyz", "", nil, 503, "no map; no room"},
		"metrics":           {handler(nil), "GET", "/metrics", "", nil, 200, "go_goroutines"},
		"profiles":          {handler(nil), "GET", "/debug/pprof/", "", nil, 200, "heap"},
		"document":          {handler(nil), "GET", "/openapi.yaml", "", nil, 200, "openapi: 3.1"},
		"budget":            {handler(admintest.NewControl()), "POST", "/v1/campaigns/7/budget", `{"exhausted":true}`, nil, 200, `{"campaign_id":7,"exhausted":true,"min_clock":"2329-0000000000000007"}`},
		"no such campaign":  {handler(&admintest.Control{Err: fault.Newf(fault.NotFound, "x", "no campaign 7")}), "POST", "/v1/campaigns/7/budget", `{"exhausted":true}`, nil, 404, "no campaign 7"},
		"campaign 0":        {handler(admintest.NewControl()), "POST", "/v1/campaigns/0/budget", `{"exhausted":true}`, nil, 400, `"field":"id"`},
		"campaign x":        {handler(admintest.NewControl()), "POST", "/v1/campaigns/x/budget", `{"exhausted":true}`, nil, 400, `"field":"id"`},
		"share":             {handler(admintest.NewControl()), "POST", "/v1/campaigns/7/budget", `{"exhausted":false,"share_ppm":250000}`, nil, 200, `{"campaign_id":7,"exhausted":false,"share_ppm":250000,"min_clock":"2329-0000000000000007"}`},
		"share alone":       {handler(admintest.NewControl()), "POST", "/v1/campaigns/7/budget", `{"share_ppm":250000}`, nil, 400, "exhausted"},
		"share too large":   {handler(admintest.NewControl()), "POST", "/v1/campaigns/7/budget", `{"exhausted":false,"share_ppm":1000001}`, nil, 400, `"field":"share_ppm"`},
		"share negative":    {handler(admintest.NewControl()), "POST", "/v1/campaigns/7/budget", `{"exhausted":false,"share_ppm":-1}`, nil, 400, `"field":"share_ppm"`},
		"nothing said":      {handler(admintest.NewControl()), "POST", "/v1/campaigns/7/budget", `{}`, nil, 400, "exhausted"},
		"unknown field":     {handler(admintest.NewControl()), "POST", "/v1/campaigns/7/budget", `{"exhausted":true,"x":1}`, nil, 400, `"field":"x"`},
		"wrong type":        {handler(admintest.NewControl()), "POST", "/v1/campaigns/7/budget", `{"exhausted":"yes"}`, nil, 400, "exhausted"},
		"large":             {handler(admintest.NewControl()), "POST", "/v1/campaigns/7/budget", `{"exhausted":true` + strings.Repeat(" ", httpapi.MaxBody) + `}`, nil, 413, "body_too_large"},
		"budget by GET":     {handler(admintest.NewControl()), "GET", "/v1/campaigns/7/budget", "", nil, 405, ""},
		"from another site": {handler(admintest.NewControl()), "POST", "/v1/campaigns/7/budget", `{"exhausted":true}`, []string{"Sec-Fetch-Site", "cross-site"}, 403, ""},
		"database locked":   {handler(&admintest.Control{Err: fault.New(fault.Locked, "x", errors.New("busy"))}), "POST", "/v1/campaigns/7/budget", `{"exhausted":true}`, nil, 503, "busy"},
		"slaves":            {handler(admintest.NewControl()), "GET", "/v1/slaves", "", nil, 200, `"slave-0"`},
		"slaves fail":       {handler(&admintest.Control{Err: errors.New("x")}), "GET", "/v1/slaves", "", nil, 500, "internal"},
		"slaves of a slave": {handler(nil), "GET", "/v1/slaves", "", nil, 404, ""},
		"no such path":      {handler(nil), "GET", "/v1/nonsense", "", nil, 404, `"code":"not_found"`},
		"nothing slow":      {handler(nil), "GET", "/debug/slow", "", nil, 404, `"code":"not_found"`},
		"budget of a slave": {handler(nil), "POST", "/v1/campaigns/7/budget", `{"exhausted":true}`, nil, 404, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := call(c.h, c.method, c.path, c.body, c.header...)
			if w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
				t.Fatalf("%d %s, want %d with %q", w.Code, w.Body, c.status, c.want)
			}
		})
	}
}
