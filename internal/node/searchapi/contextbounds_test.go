package searchapi

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"adshard/fault"
	"adshard/internal/node/httpapi/api"
	"adshard/internal/node/wire"
	"adshard/places"
	"adshard/search"
	"adshard/targeting"
)

// fullContext returns a context at every limit of serving.md §11, by the field names of a body.
func fullContext() map[string]any {
	list := func(n int, format string) (out []any) {
		for i := range n {
			out = append(out, fmt.Sprintf(format, i))
		}
		return out
	}
	ids := func(n, from int) (out []any) {
		for i := range n {
			out = append(out, json.Number(fmt.Sprint(from+i)))
		}
		return out
	}
	long := func(n, bytes int) (out []any) {
		for _, s := range list(n, "%d") {
			out = append(out, s.(string)+strings.Repeat("a", bytes-len(s.(string))))
		}
		return out
	}
	host := strings.Repeat("a", 63) + "." + strings.Repeat("b", 63) + "." + strings.Repeat("c", 63) + "." + strings.Repeat("d", 61)
	return map[string]any{
		"q": "a", "time": "2100-12-31T23:59:59Z", "point": map[string]any{"lat": json.Number("-90"), "lon": json.Number("180.000000")},
		"locations": ids(16, 1), "interest_locations": ids(16, 1<<32-16), "audiences": long(256, 64), "block": long(16, 64),
		"languages": []any{"ar", "bg", "ca", "cs", "da", "de", "el", "en", "es", "et", "fi", "fr", "hr", "hu", "it", "ja"},
		"site":      host + "/" + strings.Repeat("p", 512-len(host)-1), "block_advertisers": ids(1000, 1), "block_domains": list(1000, "%d."+host[64:]),
		"block_categories": list(1000, "%d/b/c/d/e/f/g/"+strings.Repeat("h", 32)), "block_uncategorised": true,
	}
}

// TestContextAtItsBounds: a context at all limits at once, with places nested as deep as possible, is accepted and fits in what slaves
// accept. One more of anything is refused, and the error names the field.
func TestContextAtItsBounds(t *testing.T) {
	resolveBody := func(body map[string]any) (resolved, error) {
		raw, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		p := api.NewSearchParams()
		if err := api.FromBody(p, raw); err != nil {
			return resolved{}, err
		}
		c := &call{Handler: &Handler{Config: Config{
			Places: deepPlaces(), List: func(string) (uint64, error) { return 1, nil },
		}}, body: true}
		return c.resolve(searchContext(p))
	}
	at, err := resolveBody(fullContext())
	if err != nil {
		t.Fatal(err)
	}
	if len(at.Places) != 16*places.MaxDepth+16 || len(at.Audiences) != 256 || len(at.Lists) != 16 || at.Blocks[0].Domains.Len() != 1000 || len(at.Languages) != 16 {
		t.Errorf("%d places, %d audiences, %d lists", len(at.Places), len(at.Audiences), len(at.Lists))
	}
	req := &search.Request{Query: &search.Query{}, Slots: 4, Profile: search.DefaultProfile(), Context: at.Context}
	raw := wire.AppendRequest(nil, req)
	if got, err := wire.ParseRequest(raw); err != nil || len(got.Context.Places) != len(at.Places) || got.Context.Blocks[0].Categories.Len() != 1000 {
		t.Errorf("slaves take it not: %v (%d bytes)", err, len(raw))
	}
	for field, more := range map[string]any{
		"locations": json.Number("9999"), "interest_locations": json.Number("9999"), "audiences": "one more", "block": "one more", "languages": "ko",
		"block_advertisers": json.Number("5000"), "block_domains": "one.more.example", "block_categories": "one/more",
	} {
		body := fullContext()
		body[field] = append(body[field].([]any), more)
		if _, err := resolveBody(body); !fault.Is(err, fault.Invalid) || fault.FieldOf(err) != field {
			t.Errorf("one more of %s: %v at %q", field, err, fault.FieldOf(err))
		}
		body[field] = append(fullContext()[field].([]any), fullContext()[field].([]any)[0])
		if _, err := resolveBody(body); err != nil {
			t.Errorf("one of %s twice: %v", field, err)
		}
	}
	full := fullContext()
	for field, one := range map[string]any{
		"time": "2101-01-01T00:00:00Z", "point": map[string]any{"lat": json.Number("-90.000001"), "lon": json.Number("0")}, "site": full["site"].(string) + "p",
		"audiences": []any{strings.Repeat("a", 65)}, "block": []any{strings.Repeat("a", 65)}, "block_domains": []any{"e." + strings.Split(full["site"].(string), "/")[0]},
		"block_categories": []any{"a/b/c/d/e/f/g/h/i"}, "locations": []any{json.Number("4294967296")}, "interest_locations": []any{json.Number("0")},
		"block_advertisers": []any{json.Number("0")}, "languages": []any{"All"}, "block_uncategorised": "true",
	} {
		body := fullContext()
		body[field] = one
		if _, err := resolveBody(body); !fault.Is(err, fault.Invalid) || fault.FieldOf(err) != field {
			t.Errorf("%s beyond its bound: %v at %q", field, err, fault.FieldOf(err))
		}
	}
}

// deepPlaces returns a table in which places 1 to 16 are nested as deep as possible, each in its own chain.
func deepPlaces() func() *places.Table {
	var rows []places.Row
	for chain := range uint32(targeting.MaxPlaces) {
		parent := uint32(0)
		for i := range uint32(places.MaxDepth) {
			id := 100_000 + chain*1000 + i
			if i == places.MaxDepth-1 {
				id = chain + 1
			}
			rows = append(rows, places.Row{ID: id, Name: "x", Parent: parent})
			parent = id
		}
	}
	t, _ := new(places.Table).With(rows)
	return func() *places.Table { return t }
}
