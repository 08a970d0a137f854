package ingest_test

import (
	"os"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"adshard/ingest"
)

// TestDocumentedLines: the lines in docs/import.md follow the schema and are accepted.
func TestDocumentedLines(t *testing.T) {
	page, err := os.ReadFile("../docs/import.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```json\n")
	lines, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("no lines in docs/import.md")
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(ingest.Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("import.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("import.json")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(lines) {
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(line))
		if err == nil {
			err = schema.Validate(value)
		}
		if err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	dump, rejects := importText(t, ingest.Options{}, lines)
	if rejects != "" || strings.Count(dump, "\n") != 7 {
		t.Errorf("%s%s", dump, rejects)
	}
	for _, wrong := range []string{`{"type":"advertiser"}`, `{"type":"advertiser","name":"A","text":"x"}`, `{"type":"keyword"}`, `{"name":"A"}`,
		`{"type":"negative","group":"G","text":"x","match_type":"broad"}`,
		`{"type":"campaign","name":"C","mobile_bid_modifier":1.25}`, `{"type":"group","campaign":"C","name":"G","max_cpc_micros":10000000001}`,
		`{"type":"campaign","name":"` + strings.Repeat("x", 1025) + `"}`, `{"type":"ad","campaign":"C","group":"G","final_url":"javascript:alert(1)"}`,
		`{"type":"ad","campaign":"C","group":"G","final_url":"https:///path"}`, `{"type":"ad","campaign":"C","group":"G","final_url":"https://a\u0001b"}`,
		`{"type":"ad","campaign":"C","group":"G","final_url":"https://a/` + strings.Repeat("x", 2040) + `"}`} {
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(wrong))
		if err != nil || schema.Validate(value) == nil {
			t.Errorf("the schema takes %s (%v)", wrong, err)
		}
		if _, rejects := importText(t, ingest.Options{Advertiser: "A"}, wrong); rejects == "" {
			t.Errorf("the reader takes %s", wrong)
		}
	}
}
