package ingest

import _ "embed"

//go:embed schema.json
var schema string

// Schema returns the JSON Schema (draft 2020-12) of a JSON line.
func Schema() string { return schema }
