// Package goldentest holds the golden set: data, queries and their answers, made by independent readings of
// docs/spec/serving.md. Tests compare with it whatever imports data or answers queries. testdata/README.md describes
// the files.
package goldentest

import (
	"bytes"
	"compress/gzip"
	"embed"
	"io"
	"path"
	"testing"
)

//go:embed testdata
var files embed.FS

// Read returns the content of a file in testdata, such as "edges/want.jsonl". If the name ends in ".gz", it returns
// the uncompressed content. An unknown name ends the test.
func Read(t testing.TB, name string) []byte {
	t.Helper()
	b, err := files.ReadFile(path.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	if path.Ext(name) != ".gz" {
		return b
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if b, err = io.ReadAll(z); err != nil {
		t.Fatal(err)
	}
	return b
}
