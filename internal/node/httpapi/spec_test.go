package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"adshard/internal/node/httpapi/api"
	"adshard/search"
)

const specURL = "openapi.yaml"

// document is openapi.yaml, as a tree and as JSON Schemas: those of OpenAPI
// 3.1 are of draft 2020-12 as they stand.
type document struct {
	tree     map[string]any
	compiler *jsonschema.Compiler
	schemas  map[string]*jsonschema.Schema
}

func readDocument(t testing.TB) *document {
	t.Helper()
	d := &document{compiler: jsonschema.NewCompiler(), schemas: make(map[string]*jsonschema.Schema)}
	var tree any
	if err := yaml.Unmarshal(Spec, &tree); err != nil {
		t.Fatal(err)
	}
	js, err := json.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(js))
	if err != nil {
		t.Fatal(err)
	}
	d.tree = parsed.(map[string]any)
	d.compiler.DefaultDraft(jsonschema.Draft2020)
	if err := d.compiler.AddResource(specURL, parsed); err != nil {
		t.Fatal(err)
	}
	return d
}

// at follows keys, and references, down from the root.
func (d *document) at(keys ...string) any {
	var at any = d.tree
	for _, k := range keys {
		m, _ := at.(map[string]any)
		if ref, ok := m["$ref"].(string); ok {
			m, _ = d.at(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...).(map[string]any)
		}
		at = m[k]
	}
	if m, ok := at.(map[string]any); ok {
		if ref, ok := m["$ref"].(string); ok {
			return d.at(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
		}
	}
	return at
}

// fits holds a body against a schema of the components.
func (d *document) fits(t rapid.TB, name, body string) {
	t.Helper()
	s, ok := d.schemas[name]
	if !ok {
		var err error
		if s, err = d.compiler.Compile(specURL + "#/components/schemas/" + name); err != nil {
			t.Fatal(err)
		}
		d.schemas[name] = s
	}
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(body))
	if err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	if err := s.Validate(v); err != nil {
		t.Errorf("%s: %v in %s", name, err, body)
	}
}

// answers holds a response against what the document says of the operation:
// status, content type, headers and schema.
func (d *document) answers(t rapid.TB, path, method string, res *http.Response, body string) {
	t.Helper()
	response, _ := d.at("paths", path, strings.ToLower(method), "responses", strconv.Itoa(res.StatusCode)).(map[string]any)
	if response == nil {
		t.Errorf("%s %s: status %d is not in the document", method, path, res.StatusCode)
		return
	}
	content, _ := response["content"].(map[string]any)
	media, ok := content[res.Header.Get("Content-Type")].(map[string]any)
	if !ok {
		t.Errorf("%s %s: content type %q is not in the document", method, path, res.Header.Get("Content-Type"))
		return
	}
	schema, _ := media["schema"].(map[string]any)
	if ref, ok := schema["$ref"].(string); ok {
		d.fits(t, strings.TrimPrefix(ref, "#/components/schemas/"), body)
	}
}

func TestEverySchemaCompiles(t *testing.T) {
	d := readDocument(t)
	for name := range d.at("components", "schemas").(map[string]any) {
		if _, err := d.compiler.Compile(specURL + "#/components/schemas/" + name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if v := d.tree["openapi"]; v != "3.1.0" {
		t.Errorf("version %v", v)
	}
}

// TestBodyHasTheParametersOfGet: the checks of a body are those generated from
// the parameters.
func TestBodyHasTheParametersOfGet(t *testing.T) {
	d := readDocument(t)
	properties := d.at("components", "schemas", "SearchRequest", "properties").(map[string]any)
	queries := 0
	for _, p := range d.at("paths", "/v1/search", "get", "parameters").([]any) {
		name := strings.TrimPrefix(p.(map[string]any)["$ref"].(string), "#/components/parameters/")
		parameter := d.at("components", "parameters", name).(map[string]any)
		if parameter["in"] != "query" {
			continue
		}
		queries++
		if got, want := fmt.Sprint(properties[name]), fmt.Sprint(parameter["schema"]); got != want {
			t.Errorf("%s: %s in the body, %s as a parameter", name, got, want)
		}
	}
	if queries != len(properties) {
		t.Errorf("%d parameters, %d properties", queries, len(properties))
	}
}

// TestCodesAreInTheDocument: every kind of fault has its code there.
func TestCodesAreInTheDocument(t *testing.T) {
	d := readDocument(t)
	for kind := range 13 {
		w := httptest.NewRecorder()
		WriteError(w, errorOf(kind))
		d.fits(t, "ErrorAnswer", w.Body.String())
	}
}

// TestAnswersFitTheDocument draws answers of the searcher and requests, good
// and bad, and holds what comes out against the document. The answer must also
// be what encoding/json makes of it again: nothing is lost or null.
func TestAnswersFitTheDocument(t *testing.T) {
	d := readDocument(t)
	rapid.Check(t, func(t *rapid.T) {
		f := &fake{answer: drawAnswer(t), explain: drawExplanation(t)}
		h := New(configured(f))
		path := rapid.SampledFrom([]string{"/v1/search", "/v1/explain", "/openapi.yaml"}).Draw(t, "path")
		query := rapid.SampledFrom([]string{
			"", "?q=a", "?q=usb+kabel&slots=20", "?q=a&slots=0", "?q=a&strict=true", "?q=a&limit=3&offset=1", "?q=%ff",
		}).Draw(t, "query")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path+query, nil))
		d.answers(t, path, "GET", w.Result(), w.Body.String())
		if w.Code == http.StatusOK && path == "/v1/search" {
			again(t, w.Body.String(), new(api.SearchAnswer))
		}
		if w.Code == http.StatusOK && path == "/v1/explain" {
			again(t, w.Body.String(), new(api.ExplainAnswer))
		}
	})
}

func TestRefusedBodiesFitTheDocument(t *testing.T) {
	d := readDocument(t)
	for _, body := range []string{`{"q":"a"}`, `{"q":1}`, `x`, strings.Repeat("x", MaxBody+1)} {
		res, got := ask(t, New(configured(&fake{answer: whole()})), post(body))
		d.answers(t, "/v1/search", "POST", res, got)
	}
	r := httptest.NewRequest(http.MethodPost, "/v1/search", strings.NewReader("q=a"))
	res, got := ask(t, New(configured(&fake{answer: whole()})), r)
	d.answers(t, "/v1/search", "POST", res, got)
}

func again(t *rapid.T, body string, v any) {
	if err := json.Unmarshal([]byte(body), v); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	if b.String() != body {
		t.Fatalf("%s\nis %s again", body, b.String())
	}
}

func drawAnswer(t *rapid.T) *search.Answer {
	a := whole()
	for i := range rapid.IntRange(0, 21).Draw(t, "hits") {
		a.Hits = append(a.Hits, drawHit(t, uint64(i+1)))
	}
	a.CountsExact = rapid.Bool().Draw(t, "exact")
	if rapid.Bool().Draw(t, "partial") {
		a.Width, a.Answered, a.Missing = search.Width{}, 2, []string{"slave-2"}
	}
	return a
}

func drawHit(t *rapid.T, id uint64) search.Hit {
	h := hit(id, id, rapid.Uint64Range(10_000, 1e11).Draw(t, "bid"), rapid.Uint64Range(1, 1e6).Draw(t, "quality"))
	h.Type = search.MatchType(rapid.IntRange(0, 2).Draw(t, "type"))
	h.Level = search.Level(rapid.IntRange(0, 3).Draw(t, "level"))
	h.KeywordText = rapid.String().Draw(t, "text")
	h.Ad.Headlines = rapid.SliceOf(rapid.String()).Draw(t, "headlines")
	h.Ad.Descriptions = nil
	return h
}

func drawExplanation(t *rapid.T) *search.Explanation {
	x := &search.Explanation{Width: search.WholeRing()}
	for i := range rapid.IntRange(0, 8).Draw(t, "matches") {
		m := search.Explained{Hit: drawHit(t, uint64(i+1)), Shard: "slave-0", Slice: 3, NegativeOwner: "group"}
		m.Verdict = rapid.SampledFrom([]search.Verdict{
			search.Eligible, search.KeywordPaused, search.GroupPaused, search.CampaignPaused, search.AdvertiserPaused,
			search.NoAd, search.BudgetExhausted, search.NoBid, search.DeviceOff, search.BelowReserve, search.BlockedByNegative,
		}).Draw(t, "verdict")
		m.Words = []search.Agreement{{Keyword: "usb", Query: "USB", Level: m.Level}}
		x.Matches = append(x.Matches, m)
	}
	x.Total = uint64(len(x.Matches))
	return x
}
