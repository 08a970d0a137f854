package admin_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"

	"adshard/blocklist"
)

// drawn is a request that is made from the document only.
type drawn struct {
	query  url.Values
	header map[string]string
	body   map[string]any
	has    bool   // whether there is a body
	file   string // a body that is not JSON, or "" if there is none
}

// drawer draws requests for operations of the document.
type drawer struct {
	*world
	*rand.Rand
}

// TestRequestsOfTheDocument draws requests for each operation on data from the document's own parameters and
// schemas. Valid requests are never refused. Requests with one fault are always refused, and change nothing.
// The status, content type, headers and schema of every answer agree with the document (world.ask).
func TestRequestsOfTheDocument(t *testing.T) {
	w := newWorld(t)
	w.fill()
	d := drawer{w, rand.New(rand.NewPCG(35, 1))}
	const draws = 12
	for _, operation := range w.doc.Operations("data") {
		method, path, _ := strings.Cut(operation, " ")
		if path == "/v1/batch" {
			continue // its operations are those of the other paths; TestBatches tests it
		}
		for range draws {
			good := d.draw(path, method)
			if a := d.send(method, path, good); a.status == 400 || a.status == 413 || a.status == 415 || a.status >= 500 {
				t.Errorf("%s: %+v is good, but answered %d %s", operation, good, a.status, a.body)
			}
			bad, what := d.spoil(path, method, d.draw(path, method))
			before, lists := w.clock(), d.lists()
			if a := d.send(method, path, bad); a.status != 400 || w.clock() != before || d.lists() != lists {
				t.Errorf("%s: %+v has %s, but is answered %d %s", operation, bad, what, a.status, a.body)
			}
		}
	}
}

// lists returns the names and versions of the block lists.
func (d *drawer) lists() string {
	heads, err := blocklist.Heads(d.T.Context(), d.DB)
	d.Must(err)
	return fmt.Sprint(heads)
}

// send sends a request.
func (d *drawer) send(method, path string, r drawn) reply {
	body := ""
	if r.has {
		text, err := json.Marshal(r.body)
		d.Must(err)
		body = string(text)
	}
	var header []string
	if r.file != "" {
		body, header = r.file, []string{"Content-Type", "application/octet-stream"}
	}
	for name, v := range r.header {
		header = append(header, name, v)
	}
	return d.ask(method, strings.NewReplacer("{id}", "1", "{name}", "1").Replace(path)+"?"+r.query.Encode(), body, header...)
}

// parameters returns the parameters of an operation, by name.
func (d *drawer) parameters(path, method string) map[string]map[string]any {
	out := map[string]map[string]any{}
	list, _ := d.doc.At("paths", path, strings.ToLower(method), "parameters").([]any)
	for _, p := range list {
		of := d.resolved(p)
		out[of["name"].(string)] = of
	}
	return out
}

// schema returns the schema of an operation's body, or nil if it has none.
func (d *drawer) schema(path, method string) map[string]any {
	s, _ := d.doc.At("paths", path, strings.ToLower(method), "requestBody", "content", "application/json", "schema").(map[string]any)
	return s
}

// draw draws a valid request.
func (d *drawer) draw(path, method string) drawn {
	r := drawn{query: url.Values{}, header: map[string]string{}}
	params := d.parameters(path, method)
	for _, name := range slices.Sorted(maps.Keys(params)) {
		of := params[name]
		required, _ := of["required"].(bool)
		switch {
		case of["in"] == "path" || name == "cursor" || !required && d.IntN(2) == 0:
		case of["in"] == "header":
			r.header[name] = d.name(name)
		default:
			r.query.Set(name, fmt.Sprint(d.value(name, d.resolved(of["schema"]))))
		}
	}
	if strings.HasPrefix(path, "/v1/negatives") && params["group"] != nil { // exactly one of them, as the document says
		r.query.Del("campaign")
		r.query.Del("advertiser")
		r.query.Set("group", "1")
	}
	if path == "/v1/locations" { // either a number or words
		r.query.Del("id")
		r.query.Set("find", "prague")
	}
	if s := d.schema(path, method); s != nil {
		r.has, r.body = true, d.object(s)
	}
	if d.doc.At("paths", path, strings.ToLower(method), "requestBody", "content", "application/octet-stream") != nil {
		r.file = fmt.Sprintf("Account,Campaign\nA,%d\n", d.Uint32())
	}
	return r
}

// name draws a value for a header.
func (d *drawer) name(header string) string {
	if header == "If-Match" || header == "If-None-Match" {
		return `"` + strings.Repeat("0", 16) + `"`
	}
	return fmt.Sprint("key-", d.Uint32())
}

// object draws a valid body.
func (d *drawer) object(s map[string]any) map[string]any {
	properties, required := s["properties"].(map[string]any), fmt.Sprint(s["required"])
	out := map[string]any{}
	names := slices.Sorted(maps.Keys(properties))
	for _, name := range names {
		if strings.Contains(required, name) || d.IntN(2) == 0 && !strings.HasSuffix(name, "_id") {
			out[name] = d.value(name, d.resolved(properties[name]))
		}
	}
	if properties["group_id"] != nil && out["group_id"] == nil {
		out["group_id"] = 1
	}
	if len(out) == 0 {
		name := "status"
		if properties[name] == nil {
			name = names[0]
		}
		out[name] = d.value(name, d.resolved(properties[name]))
	}
	return out
}

func (d *drawer) resolved(schema any) map[string]any {
	s := schema.(map[string]any)
	if ref, ok := s["$ref"].(string); ok {
		return d.doc.At(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...).(map[string]any)
	}
	return s
}

// targeted has values of the properties that say where and when ads are shown.
var targeted = map[string]string{
	"start_date": `"2026-03-01"`, "end_date": `"2026-12-31"`, "location_method": `"presence"`, "location_exclusion_method": `"presence_or_interest"`,
	"schedule": `[{"day":"monday","from":"08:00","to":"18:15","modifier_percent":-12.5}]`, "categories": `["alcohol/wine"]`,
	"locations": `[{"id":2203,"modifier_percent":20},{"id":2840,"exclude":true},{"lat":50.087,"lon":14.421,"radius_m":15000}]`,
	"audiences": `{"target":[{"id":"buyers"}],"exclude":[{"id":"staff"}]}`, "sites": `{"include":[{"site":"news.example/sport"}]}`,
}

// value draws a valid value.
func (d *drawer) value(name string, s map[string]any) any {
	types := fmt.Sprint(s["type"])
	switch {
	case s["enum"] != nil:
		list := s["enum"].([]any)
		return list[d.IntN(len(list))]
	case strings.Contains(types, "null") && d.IntN(4) == 0:
		return nil
	case name == "after":
		return ""
	case s["pattern"] == "^[-a-z0-9_.]{1,64}$":
		return fmt.Sprint("list-", d.Uint32())
	case name == "domains":
		return []string{fmt.Sprintf("h%d.example", d.IntN(20)), "www.Example.com"}
	case name == "advertisers":
		return []int{1 + d.IntN(20)}
	case name == "wait_ms":
		return 1
	case name == "time_zone":
		return "Europe/Prague"
	case name == "final_url":
		return fmt.Sprintf("https://a.example/%d", d.Uint32())
	case targeted[name] != "":
		return json.RawMessage(targeted[name])
	case name == "remove" || name == "add":
		return d.object(s)
	case name == "paused_by":
		return []string{"end_date"}
	case name == "languages":
		return []string{"cs"}
	case strings.HasSuffix(name, "_id"), name == "group", name == "campaign", name == "advertiser":
		return 1 + d.IntN(2)
	case strings.Contains(types, "integer"):
		low, high := bound(s, "minimum"), bound(s, "maximum")
		if high == 0 {
			high = 1e6
		}
		return low + d.Int64N(min(high-low, 1<<53)+1)
	case strings.Contains(types, "boolean"):
		return d.IntN(2) == 0
	case strings.Contains(types, "number"):
		return float64(d.IntN(10_001)-1000) / 10
	case strings.Contains(types, "array"):
		return []string{fmt.Sprint("text ", d.Uint32())}
	}
	return fmt.Sprint("word ", d.Uint32())
}

func bound(s map[string]any, name string) int64 {
	n, _ := s[name].(json.Number)
	v, _ := n.Int64()
	return v
}

// spoil makes one fault in a request, and says which.
func (d *drawer) spoil(path, method string, r drawn) (drawn, string) {
	params, s := d.parameters(path, method), d.schema(path, method)
	delete(r.header, "If-Match") // it would be answered 412 if the rest is found in the database
	ways := []func() string{func() string { r.query.Set("nonsense", "1"); return "an unknown parameter" }}
	for _, name := range slices.Sorted(maps.Keys(params)) {
		of := params[name]
		schema := d.resolved(of["schema"])
		if of["in"] != "query" || schema["type"] == "string" && schema["enum"] == nil {
			continue
		}
		ways = append(ways, func() string { r.query.Set(name, "x"); return "a wrong " + name })
		if high := bound(schema, "maximum"); high > 0 {
			ways = append(ways, func() string { r.query.Set(name, fmt.Sprint(high+1)); return "a " + name + " that is too large" })
		}
		if required, _ := of["required"].(bool); required {
			ways = append(ways, func() string { r.query.Del(name); return "no " + name })
		}
	}
	if s == nil {
		return r, ways[d.IntN(len(ways))]()
	}
	ways = append(ways, func() string { r.body["nonsense"] = 1; return "an unknown field" })
	properties := s["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		schema := d.resolved(properties[name])
		if strings.Contains(fmt.Sprint(schema["type"]), "object") {
			ways = append(ways, func() string { r.body[name] = []any{}; return "a list as " + name })
		} else {
			ways = append(ways, func() string { r.body[name] = map[string]any{}; return "an object as " + name })
		}
		if high := bound(schema, "maximum"); high > 0 {
			ways = append(ways, func() string {
				r.body[name] = json.Number(fmt.Sprint(uint64(high) + 1))
				return "a " + name + " that is too large"
			})
		}
		if schema["enum"] != nil {
			ways = append(ways, func() string { r.body[name] = "nonsense"; return "a wrong " + name })
		}
	}
	for _, name := range strings.Fields(strings.Trim(fmt.Sprint(s["required"]), "[]")) {
		if name != "<nil>" {
			ways = append(ways, func() string { delete(r.body, name); return "no " + name })
		}
	}
	return r, ways[d.IntN(len(ways))]()
}
