// Package apitest compares answers with openapi.yaml, for tests.
package apitest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"
)

const specURL = "openapi.yaml"

// Document is openapi.yaml, as a tree and as JSON Schemas: schemas of OpenAPI 3.1 are JSON Schemas
// of draft 2020-12. It is safe for concurrent use.
type Document struct {
	Tree map[string]any

	mu       sync.Mutex
	compiler *jsonschema.Compiler          // under mu
	schemas  map[string]*jsonschema.Schema // under mu
}

// Read parses the document.
func Read(t rapid.TB, spec []byte) *Document {
	t.Helper()
	d := &Document{compiler: jsonschema.NewCompiler(), schemas: make(map[string]*jsonschema.Schema)}
	var tree any
	if err := yaml.Unmarshal(spec, &tree); err != nil {
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
	d.Tree = parsed.(map[string]any)
	d.compiler.DefaultDraft(jsonschema.Draft2020)
	if err := d.compiler.AddResource(specURL, parsed); err != nil {
		t.Fatal(err)
	}
	return d
}

// At follows keys, and the references between them, down from the root.
func (d *Document) At(keys ...string) any {
	var at any = d.Tree
	for _, k := range keys {
		m, _ := at.(map[string]any)
		if ref, ok := m["$ref"].(string); ok {
			m, _ = d.At(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...).(map[string]any)
		}
		at = m[k]
	}
	if m, ok := at.(map[string]any); ok {
		if ref, ok := m["$ref"].(string); ok {
			return d.At(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
		}
	}
	return at
}

// schema returns the schema with a name from the components.
func (d *Document) schema(name string) (s *jsonschema.Schema, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s, ok := d.schemas[name]; ok {
		return s, nil
	}
	if s, err = d.compiler.Compile(specURL + "#/components/schemas/" + name); err == nil {
		d.schemas[name] = s
	}
	return s, err
}

// Fits checks a body against a schema of the components.
func (d *Document) Fits(t rapid.TB, name, body string) {
	t.Helper()
	s, err := d.schema(name)
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(body))
	if err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	if err := s.Validate(v); err != nil {
		t.Errorf("%s: %v in %s", name, err, body)
	}
}

// Answers checks a response against the document's description of the operation: status, content
// type, headers and schema.
func (d *Document) Answers(t rapid.TB, path, method string, res *http.Response, body string) {
	t.Helper()
	response, _ := d.At("paths", path, strings.ToLower(method), "responses", strconv.Itoa(res.StatusCode)).(map[string]any)
	if response == nil {
		t.Errorf("%s %s: status %d is not in the document", method, path, res.StatusCode)
		return
	}
	content, _ := response["content"].(map[string]any)
	if content == nil {
		if body != "" {
			t.Errorf("%s %s: status %d has the body %s", method, path, res.StatusCode, body)
		}
		return
	}
	media, ok := content[res.Header.Get("Content-Type")].(map[string]any)
	if !ok {
		t.Errorf("%s %s: content type %q is not in the document", method, path, res.Header.Get("Content-Type"))
		return
	}
	schema, _ := media["schema"].(map[string]any)
	if ref, ok := schema["$ref"].(string); ok {
		d.Fits(t, strings.TrimPrefix(ref, "#/components/schemas/"), body)
	}
}

// Compiles fails the test for each invalid schema.
func (d *Document) Compiles(t rapid.TB) {
	t.Helper()
	for name := range d.At("components", "schemas").(map[string]any) {
		if _, err := d.schema(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Operations returns the operations with a tag, as method and path: "GET /livez".
func (d *Document) Operations(tag string) []string {
	var out []string
	for path, item := range d.At("paths").(map[string]any) {
		for method := range item.(map[string]any) {
			tags, _ := d.At("paths", path, method, "tags").([]any)
			if slices.Contains(tags, any(tag)) {
				out = append(out, strings.ToUpper(method)+" "+path)
			}
		}
	}
	slices.Sort(out)
	return out
}
