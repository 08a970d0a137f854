package searchapi

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"adshard/internal/node/httpapi/api"
)

// TestBadParameters compares the answer for each kind of wrong GET parameter with the expected one.
func TestBadParameters(t *testing.T) {
	long := strings.Repeat("a", 1025)
	marks := "a" + strings.Repeat("\u0301", 31)
	for _, c := range []struct{ query, field string }{
		{"", "q"},
		{"device=mobile", "q"},
		{"q=" + long, "q"},
		{"q=" + url.QueryEscape(strings.Repeat("é", 513)), "q"},
		{"q=%ff", "q"},
		{"q=%ed%a0%80", "q"},
		{"q=" + url.QueryEscape(marks), "q"},
		{"q=%zz", "q"},
		{"q=a%", "q"},
		{"q=a&q=a", "q"},
		{"q=a&slots=-1", "slots"},
		{"q=a&slots=0", "slots"},
		{"q=a&slots=21", "slots"},
		{"q=a&slots=", "slots"},
		{"q=a&slots", "slots"},
		{"q=a&slots=four", "slots"},
		{"q=a&slots=4.0", "slots"},
		{"q=a&slots=%2B4", "slots"},
		{"q=a&slots=04", "slots"},
		{"q=a&slots=+4", "slots"},
		{"q=a&slots=99999999999999999999", "slots"},
		{"q=a&slots=4&slots=4", "slots"},
		{"q=a&min_clock=5", "min_clock"},
		{"q=a&min_clock=05-0000000000000007", "min_clock"},
		{"q=a&min_clock=5-0000000000000007x", "min_clock"},
		{"q=a&device=phone", "device"},
		{"q=a&device=", "device"},
		{"q=a&device=Mobile", "device"},
		{"q=a&variants=none", "variants"},
		{"q=a&variants=fuzzy", "variants"},
		{"q=a&timeout_ms=0", "timeout_ms"},
		{"q=a&timeout_ms=-5", "timeout_ms"},
		{"q=a&timeout_ms=5001", "timeout_ms"},
		{"q=a&timeout_ms=1s", "timeout_ms"},
		{"q=a&strict=yes", "strict"},
		{"q=a&strict=1", "strict"},
		{"q=a&strict=TRUE", "strict"},
		{"q=a&counts=yes", "counts"},
		{"q=a&counts=true", "counts"},
		{"q=a&limit=5", "limit"},
		{"q=a&Q=b", "Q"},
		{"q=a&slot=4", "slot"},
		{"q=a&=4", ""},
		{"q=a&%zz=4", ""},
		{"q=a&%ff=4", "\uFFFD"},
	} {
		f := &fake{answer: whole()}
		res, body := get(t, New(configured(f)), "/v1/search?"+c.query)
		refused(t, c.query, res, body, http.StatusBadRequest, api.ErrorCodeInvalid, c.field)
		if f.asked != nil {
			t.Errorf("%s: the searcher was asked", c.query)
		}
	}
}

// TestBadBodies does the same for the JSON of a POST.
func TestBadBodies(t *testing.T) {
	for _, c := range []struct{ body, field string }{
		{``, ""},
		{`null`, ""},
		{`[]`, ""},
		{`"q"`, ""},
		{`{`, ""},
		{`{"q":"a"`, ""},
		{`{"q":"a",}`, ""},
		{`{"q":"a"} {}`, ""},
		{`{"q":"a"}x`, ""},
		{`{"q" "a"}`, ""},
		{`{q:"a"}`, ""},
		{`{}`, "q"},
		{`{"q":1}`, "q"},
		{`{"q":null}`, "q"},
		{`{"q":["a"]}`, "q"},
		{`{"q":{"a":1}}`, "q"},
		{`{"q":"a","q":"b"}`, "q"},
		{`{"q":"` + strings.Repeat("a", 1025) + `"}`, "q"},
		{"{\"q\":\"\xff\"}", ""},
		{`{"q":"\ud800"}`, ""},
		{`{"q":"\udc00\ud800"}`, ""},
		{`{"q":"\ud83d\u0041"}`, ""},
		{`{"q":"a","slots":"4"}`, "slots"},
		{`{"q":"a","slots":-1}`, "slots"},
		{`{"q":"a","slots":4.0}`, "slots"},
		{`{"q":"a","slots":4e0}`, "slots"},
		{`{"q":"a","slots":21}`, "slots"},
		{`{"q":"a","slots":true}`, "slots"},
		{`{"q":"a","device":1}`, "device"},
		{`{"q":"a","device":"phone"}`, "device"},
		{`{"q":"a","variants":"all"}`, "variants"},
		{`{"q":"a","timeout_ms":5001}`, "timeout_ms"},
		{`{"q":"a","strict":"true"}`, "strict"},
		{`{"q":"a","strict":1}`, "strict"},
		{`{"q":"a","counts":true}`, "counts"},
		{`{"q":"a","colour":"red"}`, "colour"},
		{`{"q":"a","Slots":4}`, "Slots"},
	} {
		f := &fake{answer: whole()}
		res, body := ask(t, New(configured(f)), post(c.body))
		refused(t, c.body, res, body, http.StatusBadRequest, api.ErrorCodeInvalid, c.field)
		if f.asked != nil {
			t.Errorf("%s: the searcher was asked", c.body)
		}
	}
}

func TestGoodBodies(t *testing.T) {
	for body, want := range map[string]string{
		`{"q":"usb \ud83d\ude00 \\ud800"}`:                 `usb 😀 \ud800`,
		` { "slots" : 20 , "q" : "" } `:                    "",
		`{"q":"a","counts":"exact","strict":false}` + "\n": "a",
	} {
		f := &fake{answer: whole()}
		res, got := ask(t, New(configured(f)), post(body))
		if res.StatusCode != http.StatusOK || f.asked.Query.Text != want {
			t.Errorf("%s: %d %s", body, res.StatusCode, got)
		}
	}
}

func TestWrongMethodsPathsAndTypes(t *testing.T) {
	request := func(method, url, contentType, body string) *http.Request {
		r := httptest.NewRequest(method, url, strings.NewReader(body))
		r.Header.Set("Content-Type", contentType)
		return r
	}
	const js = "application/json"
	coded := func(r *http.Request, codings ...string) *http.Request {
		r.Header["Content-Encoding"] = codings
		return r
	}
	for _, c := range []struct {
		r      *http.Request
		status int
		code   api.ErrorCode
		field  string
		allow  string
	}{
		{request("PUT", "/v1/search?q=a", "", ""), 405, api.ErrorCodeMethodNotAllowed, "", "GET, HEAD, POST"},
		{request("DELETE", "/v1/search", "", ""), 405, api.ErrorCodeMethodNotAllowed, "", "GET, HEAD, POST"},
		{request("OPTIONS", "/v1/search", "", ""), 405, api.ErrorCodeMethodNotAllowed, "", "GET, HEAD, POST"},
		{request("TRACE", "/v1/search", js, `{"q":"a"}`), 405, api.ErrorCodeMethodNotAllowed, "", "GET, HEAD, POST"},
		{request("BREW", "/v1/explain", "", ""), 405, api.ErrorCodeMethodNotAllowed, "", "GET, HEAD"},
		{request("POST", "/v1/explain", js, "{}"), 405, api.ErrorCodeMethodNotAllowed, "", "GET, HEAD"},
		{request("POST", "/openapi.yaml", js, "{}"), 405, api.ErrorCodeMethodNotAllowed, "", "GET, HEAD"},
		{request("GET", "/", "", ""), 404, api.ErrorCodeNotFound, "", ""},
		{request("GET", "/v1/search/", "", ""), 404, api.ErrorCodeNotFound, "", ""},
		{request("GET", "/v1/campaigns/1/budget", "", ""), 404, api.ErrorCodeNotFound, "", ""},
		{request("GET", "/openapi.yaml?x=1", "", ""), 400, api.ErrorCodeInvalid, "x", ""},
		{request("POST", "/v1/search?q=a", js, `{"q":"a"}`), 400, api.ErrorCodeInvalid, "q", ""},
		{request("GET", "/v1/search?q=a", js, `{"q":"a"}`), 400, api.ErrorCodeInvalid, "", ""},
		{request("POST", "/v1/search", "", `{"q":"a"}`), 415, api.ErrorCodeWrongContentType, "Content-Type", ""},
		{request("POST", "/v1/search", "text/json", `{"q":"a"}`), 415, api.ErrorCodeWrongContentType, "Content-Type", ""},
		{request("POST", "/v1/search", js+"; charset=latin1", `{"q":"a"}`), 415, api.ErrorCodeWrongContentType, "Content-Type", ""},
		{request("POST", "/v1/search", "application/x-www-form-urlencoded", "q=a"), 415, api.ErrorCodeWrongContentType, "Content-Type", ""},
		{coded(post("\x1f\x8b\x08\x00"), "gzip"), 415, api.ErrorCodeWrongContentType, "Content-Encoding", ""},
		{coded(post(`{"q":"a"}`), "br"), 415, api.ErrorCodeWrongContentType, "Content-Encoding", ""},
		{coded(post(`{"q":"a"}`), "identity", "zstd"), 415, api.ErrorCodeWrongContentType, "Content-Encoding", ""},
		{post("\x1f\x8b\x08\x00"), 415, api.ErrorCodeWrongContentType, "Content-Encoding", ""},
		{post("\x28\xb5\x2f\xfd\x00"), 415, api.ErrorCodeWrongContentType, "Content-Encoding", ""},
		{post("\x78\x9c\xff"), 415, api.ErrorCodeWrongContentType, "Content-Encoding", ""},
		{post(`{"q":"` + strings.Repeat("a", maxBody) + `"}`), 413, api.ErrorCodeBodyTooLarge, "", ""},
	} {
		res, body := ask(t, New(configured(&fake{answer: whole()})), c.r)
		name := c.r.Method + " " + c.r.URL.String()
		refused(t, name, res, body, c.status, c.code, c.field)
		if got := res.Header.Get("Allow"); got != c.allow {
			t.Errorf("%s: Allow %q, want %q", name, got, c.allow)
		}
	}
	res, body := ask(t, New(configured(&fake{answer: whole()})), request("POST", "/v1/search", js+"; charset=UTF-8", `{"q":"a"}`))
	if res.StatusCode != http.StatusOK {
		t.Errorf("JSON with a charset: %d %s", res.StatusCode, body)
	}
	if res, body = ask(t, New(configured(&fake{answer: whole()})), coded(post(`{"q":"a"}`), "Identity")); res.StatusCode != http.StatusOK {
		t.Errorf("JSON with the coding identity: %d %s", res.StatusCode, body)
	}
}

func refused(t *testing.T, name string, res *http.Response, body string, status int, code api.ErrorCode, field string) {
	t.Helper()
	var e api.ErrorAnswer
	strictly(t, body, &e)
	if res.StatusCode != status || e.Error.Code != code || e.Error.Field != field || e.Error.Message == "" {
		t.Errorf("%.60s: %d %s; want %d, code %s, field %q", name, res.StatusCode, body, status, code, field)
	}
	if res.Header.Get("Content-Type") != "application/json" || res.Header.Get("X-Request-Id") != "made-1" {
		t.Errorf("%.60s: headers %v", name, res.Header)
	}
}
