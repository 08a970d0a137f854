package main

import (
	"bytes"
	_ "embed"
	"go/format"
	"text/template"
)

// own lists the imports that all generated code has.
var own = []string{"context", "errors", "fmt", "sync", "time", "adshard/counters", "adshard/counters/store"}

var (
	//go:embed code.tmpl
	codeText string
	//go:embed test.tmpl
	testText string
)

// generate returns the code for the counters of a file, and the test of their laws. The test is
// nil if there are only logs.
func generate(file string) (code, test []byte, err error) {
	s, err := read(file)
	if err != nil {
		return nil, nil, err
	}
	if code, err = filled("code", codeText, s); err != nil || !s.Folds() {
		return code, nil, err
	}
	test, err = filled("test", testText, s)
	return code, test, err
}

func filled(name, text string, s *source) ([]byte, error) {
	t, err := template.New(name).Parse(text)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, s); err != nil {
		return nil, err
	}
	return format.Source(b.Bytes())
}
