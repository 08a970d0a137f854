package admin_test

import (
	"errors"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"adshard/fault"
	"adshard/internal/node/admin/admintest"
	"adshard/internal/node/httpapi"
	"adshard/internal/node/httpapi/apitest"
)

// requests has a request that succeeds for each operation of a balancer's admin port.
var requests = map[string]struct{ path, body string }{
	"POST /v1/campaigns/{id}/budget": {"/v1/campaigns/12345678901/budget", `{"exhausted":true}`},
	"GET /v1/slaves":                 {path: "/v1/slaves"},
	"POST /v1/slaves":                {"/v1/slaves", `{"address":"10.0.0.9:7100"}`},
	"POST /v1/slaves/{name}/drain":   {path: "/v1/slaves/slave-1/drain"},
	"GET /v1/balance":                {path: "/v1/balance"},
	"GET /v1/balance/slices":         {path: "/v1/balance/slices?limit=5&slave=slave-0"},
	"GET /v1/balance/plan":           {path: "/v1/balance/plan"},
	"GET /v1/balance/history":        {path: "/v1/balance/history"},
	"GET /v1/balance/why/{slice}":    {path: "/v1/balance/why/5"},
	"POST /v1/balance/move":          {"/v1/balance/move", `{"slice":5,"slave":"slave-2"}`},
	"GET /v1/balance/strategies":     {path: "/v1/balance/strategies"},
	"POST /v1/balance/strategy":      {"/v1/balance/strategy", `{"name":"random","options":{"moves":"3","seed":"1"}}`},
	"POST /v1/slaves/{name}/remove":  {path: "/v1/slaves/slave-2/remove"},
	"POST /v1/balance/replicas":      {path: "/v1/balance/replicas", body: `{"replicas":2}`},
	"POST /v1/balance/pause":         {path: "/v1/balance/pause"},
	"POST /v1/balance/resume":        {path: "/v1/balance/resume"},
}

// TestEveryOperationAnswersAsTheDocumentSays: each admin operation of the document has a handler,
// whose answers fit the document: after success, after each kind of failure that a balancer can
// have, and for a wrong method.
func TestEveryOperationAnswersAsTheDocumentSays(t *testing.T) {
	d := apitest.Read(t, httpapi.Spec)
	faults := []error{nil}
	for _, kind := range []fault.Kind{fault.Internal, fault.Invalid, fault.Conflict, fault.Unavailable, fault.Deadline, fault.Locked} {
		faults = append(faults, fault.Newf(kind, "x", "it is so"))
	}
	left := map[string]bool{}
	for name := range requests {
		left[name] = true
	}
	for _, operation := range d.Operations("admin") {
		method, path, _ := strings.Cut(operation, " ")
		if !strings.HasPrefix(path, "/v1/") {
			continue
		}
		r, ok := requests[operation]
		if !ok {
			t.Errorf("%s: not tried", operation)
			continue
		}
		delete(left, operation)
		for _, err := range faults {
			if fault.Is(err, fault.Conflict) && method == "GET" {
				continue // nothing is refused if nothing is changed
			}
			c := admintest.NewControl()
			c.Err = err
			w := call(handler(c), method, r.path, r.body)
			if w.Code != http.StatusOK && err == nil {
				t.Errorf("%s: %d %s", operation, w.Code, w.Body)
			}
			d.Answers(t, path, method, w.Result(), w.Body.String())
		}
		w := call(handler(admintest.NewControl()), "PUT", r.path, r.body)
		if w.Code != http.StatusMethodNotAllowed || !strings.Contains(w.Header().Get("Allow"), method) {
			t.Errorf("PUT %s: %d, allowed %q", path, w.Code, w.Header().Get("Allow"))
		}
		d.Fits(t, "ErrorAnswer", w.Body.String())
	}
	if len(left) > 0 {
		t.Errorf("not in the document: %v", left)
	}
}

func TestControlIsTold(t *testing.T) {
	c := admintest.NewControl()
	for _, operation := range []string{
		"POST /v1/campaigns/{id}/budget", "POST /v1/slaves", "POST /v1/slaves/{name}/drain", "POST /v1/slaves/{name}/remove", "POST /v1/balance/move",
		"POST /v1/balance/strategy", "POST /v1/balance/pause", "POST /v1/balance/resume",
	} {
		call(handler(c), "POST", requests[operation].path, requests[operation].body)
	}
	call(handler(c), "POST", "/v1/slaves/a%2Fb%20%C3%BC/drain", "")
	call(handler(c), "POST", "/v1/campaigns/7/budget", `{"share_ppm":0,"exhausted":false}`)
	call(handler(c), "POST", "/v1/balance/strategy", `{"options":{},"name":"weighted-move"}`)
	want := []string{"budget 12345678901 true", "add 10.0.0.9:7100", "drain slave-1", "remove slave-2", "move 5 slave-2", "strategy random map[moves:3 seed:1]",
		"pause true", "pause false", "drain a/b ü", "budget 7 false share 0", "strategy weighted-move map[]"}
	if got := c.Calls(); !reflect.DeepEqual(got, want) {
		t.Errorf("told %q\nwant %q", got, want)
	}
}

// TestAbuse: wrong requests are refused with the reason, and have no effect.
func TestAbuse(t *testing.T) {
	many := `{"name":"x","options":{`
	for i := range 65 {
		many += `"o` + strings.Repeat("x", i) + `":"1",`
	}
	many = strings.TrimSuffix(many, ",") + "}}"
	for name, c := range map[string]struct {
		path, body string
		header     []string
		status     int
		says       string
	}{
		"no JSON":             {"/v1/balance/move", "slice=5", nil, 400, "JSON object"},
		"cut off":             {"/v1/balance/move", `{"slice":5`, nil, 400, "ends too early"},
		"two objects":         {"/v1/balance/move", `{"slice":5,"slave":"a"}{}`, nil, 400, "something after"},
		"array":               {"/v1/balance/move", `[5]`, nil, 400, "JSON object"},
		"unknown field":       {"/v1/balance/move", `{"slice":5,"slave":"a","force":true}`, nil, 400, `unknown field \"force\"`},
		"field twice":         {"/v1/balance/move", `{"slice":5,"slice":6,"slave":"a"}`, nil, 400, "more than once"},
		"field missing":       {"/v1/balance/move", `{"slice":5}`, nil, 400, "slave is missing"},
		"slice 0":             {"/v1/balance/move", `{"slice":0,"slave":"a"}`, nil, 400, "whole number"},
		"slice negative":      {"/v1/balance/move", `{"slice":-1,"slave":"a"}`, nil, 400, "whole number"},
		"slice too large":     {"/v1/balance/move", `{"slice":99999999999999999999,"slave":"a"}`, nil, 400, "whole number"},
		"slice a text":        {"/v1/balance/move", `{"slice":"5","slave":"a"}`, nil, 400, "whole number"},
		"slave empty":         {"/v1/balance/move", `{"slice":5,"slave":""}`, nil, 400, "must not be empty"},
		"slave null":          {"/v1/balance/move", `{"slice":5,"slave":null}`, nil, 400, "a string"},
		"slave an object":     {"/v1/balance/move", `{"slice":5,"slave":{"a":[1,{}]}}`, nil, 400, "not an object"},
		"slave not UTF-8":     {"/v1/balance/move", "{\"slice\":5,\"slave\":\"\xff\"}", nil, 400, "UTF-8"},
		"huge":                {"/v1/balance/move", `{"slice":5,"slave":"` + strings.Repeat("a", httpapi.MaxBody) + `"}`, nil, 413, "body_too_large"},
		"long name":           {"/v1/balance/move", `{"slice":5,"slave":"` + strings.Repeat("a", 257) + `"}`, nil, 400, "257 bytes"},
		"deep":                {"/v1/balance/strategy", `{"name":"x","options":` + strings.Repeat(`{"a":`, 1500) + "1" + strings.Repeat("}", 1500) + "}", nil, 400, "must be a string"},
		"options no object":   {"/v1/balance/strategy", `{"name":"x","options":["a"]}`, nil, 400, "object of strings"},
		"option a number":     {"/v1/balance/strategy", `{"name":"x","options":{"a":1}}`, nil, 400, "must be a string"},
		"option twice":        {"/v1/balance/strategy", `{"name":"x","options":{"a":"1","a":"2"}}`, nil, 400, "more than once"},
		"options twice":       {"/v1/balance/strategy", `{"name":"x","options":{},"options":{}}`, nil, 400, "more than once"},
		"many options":        {"/v1/balance/strategy", many, nil, 400, "more than 64"},
		"options cut off":     {"/v1/balance/strategy", `{"name":"x","options":{"a":"1"`, nil, 400, "ends too early"},
		"no name":             {"/v1/balance/strategy", `{"options":{}}`, nil, 400, "name is missing"},
		"pause with a body":   {"/v1/balance/pause", `{"paused":true}`, nil, 400, "has no body"},
		"drain with a body":   {"/v1/slaves/slave-0/drain", `{}`, nil, 400, "has no body"},
		"parameters":          {"/v1/balance/move?dry=1", `{"slice":5,"slave":"a"}`, nil, 400, "unknown field"},
		"compressed":          {"/v1/slaves", "\x1f\x8b\x08", []string{"Content-Encoding", "gzip"}, 415, "Content-Encoding"},
		"form":                {"/v1/slaves", `{"address":"a:1"}`, []string{"Content-Type", "application/x-www-form-urlencoded"}, 415, "wrong_content_type"},
		"another site":        {"/v1/balance/move", `{"slice":5,"slave":"a"}`, []string{"Sec-Fetch-Site", "cross-site"}, 403, ""},
		"another site, empty": {"/v1/balance/pause", "", []string{"Origin", "http://evil.example"}, 403, ""},
		"another site drains": {"/v1/slaves/slave-0/drain", "", []string{"Sec-Fetch-Site", "same-site"}, 403, ""},
	} {
		t.Run(name, func(t *testing.T) {
			control := admintest.NewControl()
			w := call(handler(control), "POST", c.path, c.body, c.header...)
			if w.Code != c.status || !strings.Contains(w.Body.String(), c.says) {
				t.Errorf("%d %s; want %d and %q", w.Code, w.Body, c.status, c.says)
			}
			if told := control.Calls(); len(told) > 0 {
				t.Errorf("told %q", told)
			}
		})
	}
}

func TestAskedWrongly(t *testing.T) {
	for path, status := range map[string]int{
		"/v1/balance/why/0": 400, "/v1/balance/why/-1": 400, "/v1/balance/why/x": 400, "/v1/balance/why/007": 400,
		"/v1/balance/why/18446744073709551616": 400, "/v1/balance/why/6": 404, "/v1/balance/why/": 404, "/v1/balance/why/5/6": 404,
		"/v1/balance/slices?limit=0": 400, "/v1/balance/slices?limit=1000001": 400, "/v1/balance/slices?limit=1&limit=2": 400,
		"/v1/balance/slices?order=load": 400, "/v1/balance?x": 400, "/v1/balance/nonsense": 404, "/v1/slaves?name=%zz": 400,
	} {
		if w := call(handler(admintest.NewControl()), "GET", path, ""); w.Code != status {
			t.Errorf("%s: %d %s; want %d", path, w.Code, w.Body, status)
		}
	}
	if w := call(handler(nil), "POST", "/v1/balance/pause", ""); w.Code != 404 {
		t.Errorf("on a slave: %d", w.Code)
	}
	c := admintest.NewControl()
	c.Err = errors.New("a secret cause")
	if w := call(handler(c), "GET", "/v1/balance", ""); w.Code != 500 {
		t.Errorf("a failure: %d", w.Code)
	}
}

// FuzzPaths sends any name and number in a path, and any body. The answer must be one of the
// document's, and the command must name the slave of the request.
func FuzzPaths(f *testing.F) {
	for _, seed := range []string{"slave-0", "", "..", "a/b", "%2e%2e", "5", "007", "ü\x00", "{name}", " ", "18446744073709551616"} {
		f.Add(seed, `{"slice":1,"slave":"x"}`)
	}
	f.Add("5", `{"name":"x","options":{"a":"{"}}`)
	d := apitest.Read(f, httpapi.Spec)
	f.Fuzz(func(t *testing.T, name, body string) {
		for _, r := range []struct{ method, path, operation, body string }{
			{"POST", "/v1/slaves/" + url.PathEscape(name) + "/drain", "/v1/slaves/{name}/drain", ""},
			{"GET", "/v1/balance/why/" + url.PathEscape(name), "/v1/balance/why/{slice}", ""},
			{"GET", "/v1/balance/slices?slave=" + url.QueryEscape(name), "/v1/balance/slices", ""},
			{"POST", "/v1/balance/move", "/v1/balance/move", body},
			{"POST", "/v1/balance/strategy", "/v1/balance/strategy", body},
		} {
			c := admintest.NewControl()
			w := call(handler(c), r.method, r.path, r.body)
			if w.Code/100 == 3 || w.Code == http.StatusNotFound && !strings.HasPrefix(w.Body.String(), "{") {
				continue // there is no such path: an empty name, or one of dots
			}
			d.Answers(t, r.operation, r.method, w.Result(), w.Body.String())
			if told := c.Calls(); strings.HasSuffix(r.path, "/drain") && len(told) > 0 && told[0] != "drain "+name {
				t.Errorf("told %q of %q", told, name)
			}
		}
	})
}
