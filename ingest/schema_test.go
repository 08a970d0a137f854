package ingest

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestSchema: the JSON Schema names the same types, fields and required fields as the reader.
func TestSchema(t *testing.T) {
	type object struct {
		Required             []string
		Properties           map[string]json.RawMessage
		AdditionalProperties *bool
	}
	var s struct {
		Defs map[string]json.RawMessage `json:"$defs"`
	}
	if err := json.Unmarshal([]byte(Schema()), &s); err != nil {
		t.Fatal(err)
	}
	for of, e := range entityTypes {
		var o object
		if err := json.Unmarshal(s.Defs[e.name], &o); err != nil {
			t.Fatalf("%s: %v", e.name, err)
		}
		want := []string{"status", "type"}
		for _, f := range slices.Concat(e.owners, ownFields[of]) {
			want = append(want, f.String())
		}
		slices.Sort(want)
		if got := slices.Sorted(maps.Keys(o.Properties)); !slices.Equal(got, want) {
			t.Errorf("%s has %v, the reader %v", e.name, got, want)
		}
		if o.AdditionalProperties == nil || *o.AdditionalProperties {
			t.Errorf("%s takes unknown fields", e.name)
		}
		for _, name := range o.Required {
			var line []string
			for _, other := range o.Required {
				if other != name && other != "type" {
					line = append(line, `"`+other+`":"broad"`)
				}
			}
			src, err := newJSONSource(strings.NewReader(`{"type":"`+e.name+`",`+strings.Join(line, ",")+"}\n"), "f", "A")
			if err != nil {
				t.Fatal(err)
			}
			var got entry
			if err := src.next(&got); name != "type" && (err != nil || got.reject == nil) {
				t.Errorf("%s without %s is taken (%v)", e.name, name, err)
			}
		}
	}
}
