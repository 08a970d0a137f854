package searchapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"adshard/internal/node/httpapi"
	"adshard/internal/node/httpapi/api"
	"adshard/internal/node/httpapi/apitest"
	"adshard/search"
	"adshard/search/display"
)

func TestEverySchemaCompiles(t *testing.T) {
	d := apitest.Read(t, httpapi.Spec)
	d.Compiles(t)
	if v := d.Tree["openapi"]; v != "3.1.0" {
		t.Errorf("version %v", v)
	}
}

// TestBodyHasTheParametersOfGet: the checks of a body are those generated from
// the parameters.
func TestBodyHasTheParametersOfGet(t *testing.T) {
	d := apitest.Read(t, httpapi.Spec)
	properties := d.At("components", "schemas", "SearchRequest", "properties").(map[string]any)
	queries := 0
	for _, p := range d.At("paths", "/v1/search", "get", "parameters").([]any) {
		name := strings.TrimPrefix(p.(map[string]any)["$ref"].(string), "#/components/parameters/")
		parameter := d.At("components", "parameters", name).(map[string]any)
		if parameter["in"] != "query" {
			continue
		}
		queries++
		schema := parameter["schema"].(map[string]any)
		if _, raw := schema["x-go-type"]; raw { // checked where the context is resolved, by its name in the form
			if property := new(api.SearchParams).BodyName(name); properties[property] == nil {
				t.Errorf("%s is not in the body as %s", name, property)
			}
			continue
		}
		if got, want := fmt.Sprint(properties[name]), fmt.Sprint(schema); got != want {
			t.Errorf("%s: %s in the body, %s as a parameter", name, got, want)
		}
	}
	const ofPages = 2 // placements and per_advertiser
	if queries+ofPages != len(properties) || properties["placements"] == nil || properties["per_advertiser"] == nil {
		t.Errorf("%d parameters, %d properties", queries, len(properties))
	}
}

// TestCodesAreInTheDocument: every kind of fault has its code there.
func TestCodesAreInTheDocument(t *testing.T) {
	d := apitest.Read(t, httpapi.Spec)
	for kind := range 13 {
		w := httptest.NewRecorder()
		httpapi.WriteError(w, errorOf(kind))
		d.Fits(t, "ErrorAnswer", w.Body.String())
	}
}

// TestAnswersFitTheDocument draws answers of the searcher and requests, good
// and bad, and holds what comes out against the document. The answer must also
// be what encoding/json makes of it again: nothing is lost or null.
func TestAnswersFitTheDocument(t *testing.T) {
	d := apitest.Read(t, httpapi.Spec)
	rapid.Check(t, func(t *rapid.T) {
		f := &fake{answer: drawAnswer(t), explain: drawExplanation(t)}
		h := New(configured(f))
		path := rapid.SampledFrom([]string{"/v1/search", "/v1/explain", "/openapi.yaml"}).Draw(t, "path")
		query := rapid.SampledFrom([]string{
			"", "?q=a", "?q=usb+kabel&slots=20", "?q=a&slots=0", "?q=a&strict=true", "?q=a&limit=3&offset=1", "?q=%ff",
		}).Draw(t, "query")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path+query, nil))
		d.Answers(t, path, "GET", w.Result(), w.Body.String())
		if w.Code == http.StatusOK && path == "/v1/search" {
			again(t, w.Body.String(), new(api.SearchAnswer))
		}
		if w.Code == http.StatusOK && path == "/v1/explain" {
			again(t, w.Body.String(), new(api.ExplainAnswer))
		}
	})
}

func TestRefusedBodiesFitTheDocument(t *testing.T) {
	d := apitest.Read(t, httpapi.Spec)
	for _, body := range []string{`{"q":"a"}`, `{"q":1}`, `x`, strings.Repeat("x", maxBody+1)} {
		res, got := ask(t, New(configured(&fake{answer: whole()})), post(body))
		d.Answers(t, "/v1/search", "POST", res, got)
	}
	r := httptest.NewRequest(http.MethodPost, "/v1/search", strings.NewReader("q=a"))
	res, got := ask(t, New(configured(&fake{answer: whole()})), r)
	d.Answers(t, "/v1/search", "POST", res, got)
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
		a.Width, a.Answered = search.Width{}, 2
		names := rapid.SliceOfNDistinct(rapid.String(), 1, 4, rapid.ID).Draw(t, "missing")
		for _, name := range names {
			reason := search.Reason(rapid.IntRange(0, search.Reasons-1).Draw(t, "reason"))
			a.Missing = append(a.Missing, search.Missing{Shard: name, Reason: reason})
		}
	}
	return a
}

func drawHit(t *rapid.T, id uint64) search.Hit {
	h := hit(id, id, rapid.Uint64Range(10_000, 1e11).Draw(t, "bid"), rapid.Uint64Range(1, 1e6).Draw(t, "quality"))
	h.Type = search.MatchType(rapid.IntRange(0, 2).Draw(t, "type"))
	h.Level = search.Level(rapid.IntRange(0, 3).Draw(t, "level"))
	text := rapid.String()
	h.Display = display.New(text.Draw(t, "advertiser"), text.Draw(t, "campaign"), text.Draw(t, "group"), text.Draw(t, "text"), &display.Ad{
		Headlines:    rapid.SliceOf(text).Draw(t, "headlines"),
		Descriptions: rapid.SliceOf(text).Draw(t, "descriptions"),
		Path2:        text.Draw(t, "path"), FinalURL: text.Draw(t, "url")})
	return h
}

func drawExplanation(t *rapid.T) *search.Explanation {
	x := &search.Explanation{Width: search.WholeRing()}
	for i := range rapid.IntRange(0, 8).Draw(t, "matches") {
		m := search.Explained{Hit: drawHit(t, uint64(i+1)), Shard: "slave-0", Slice: 3, NegativeOwner: "group"}
		m.Verdict = rapid.SampledFrom([]search.Verdict{
			search.Eligible, search.KeywordPaused, search.GroupPaused, search.CampaignPaused, search.AdvertiserPaused,
			search.NoAd, search.BudgetExhausted, search.NoBid, search.DeviceOff, search.BelowReserve, search.BlockedByNegative,
			search.Throttled,
		}).Draw(t, "verdict")
		m.Words = []search.Agreement{{Keyword: "usb", Query: "USB", Level: m.Level}}
		x.Matches = append(x.Matches, m)
	}
	x.Total = uint64(len(x.Matches))
	return x
}
