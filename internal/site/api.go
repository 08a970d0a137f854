package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const openAPI = "internal/node/httpapi/openapi.yaml"

// apiPage returns the page of the HTTP interface's operations and schemas, as its OpenAPI document describes them.
func (s *site) apiPage() (string, error) {
	source, err := os.ReadFile(filepath.Join(s.root, filepath.FromSlash(openAPI)))
	if err != nil {
		return "", err
	}
	doc, err := readNode(source)
	if err != nil {
		return "", fmt.Errorf("%s: %w", openAPI, err)
	}
	var text strings.Builder
	fmt.Fprintf(&text, "# HTTP interface\n\n%s\nThis page is made from [openapi.yaml](../../%s), which servers return as `/openapi.yaml`.\n", doc.at("info", "description").text(), openAPI)
	for _, tag := range doc.at("tags").list() {
		fmt.Fprintf(&text, "\n## %s\n", sentence(tag.at("description").text()))
		for _, path := range doc.at("paths").pairs() {
			for _, method := range path.value.pairs() {
				if slices.ContainsFunc(method.value.at("tags").list(), func(t *node) bool { return t.text() == tag.at("name").text() }) {
					operation(&text, strings.ToUpper(method.key)+" "+path.key, method.value)
				}
			}
		}
	}
	text.WriteString("\n## Schemas\n")
	for _, schema := range doc.at("components", "schemas").pairs() {
		describe(&text, schema.key, schema.value)
	}
	return text.String(), nil
}

func sentence(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// operation writes the parameters and answers of an operation.
func operation(text *strings.Builder, name string, op *node) {
	fmt.Fprintf(text, "\n### %s\n\n%s\n", name, op.at("summary").text())
	if more := op.at("description").text(); more != "" {
		fmt.Fprintf(text, "\n%s\n", more)
	}
	if list := op.at("parameters").list(); len(list) > 0 {
		text.WriteString("\n| parameter | in | type | meaning |\n| --- | --- | --- | --- |\n")
		for _, p := range list {
			p = p.followed()
			fmt.Fprintf(text, "| `%s`%s | %s | %s | %s |\n", p.at("name").text(), required(p.at("required").text() == "true"), p.at("in").text(),
				cell(p.at("schema").shape()), cell(p.at("description").text()))
		}
	}
	if body := op.at("requestBody"); body != nil {
		fmt.Fprintf(text, "\nBody: %s. %s\n", contents(body), body.at("description").text())
	}
	text.WriteString("\n| answer | body | meaning |\n| --- | --- | --- |\n")
	for _, answer := range op.at("responses").pairs() {
		a := answer.value.followed()
		fmt.Fprintf(text, "| %s | %s | %s |\n", answer.key, cell(contents(a)), cell(a.at("description").text()))
	}
}

func required(yes bool) string {
	if yes {
		return ", required"
	}
	return ""
}

// contents returns the media types and schemas of a body.
func contents(of *node) string {
	var out []string
	for _, media := range of.at("content").pairs() {
		shape := media.value.at("schema").shape()
		if media.key != "application/json" {
			shape = fmt.Sprintf("`%s`: %s", media.key, shape)
		}
		out = append(out, shape)
	}
	return strings.Join(out, " or ")
}

// describe writes the description of a schema.
func describe(text *strings.Builder, name string, schema *node) {
	fmt.Fprintf(text, "\n### %s\n", name)
	if more := schema.at("description").text(); more != "" {
		fmt.Fprintf(text, "\n%s\n", more)
	}
	list := schema.at("properties").pairs()
	if len(list) == 0 {
		fmt.Fprintf(text, "\n%s\n", sentence(schema.shape()))
		return
	}
	needed := schema.at("required").list()
	text.WriteString("\n| field | type | meaning |\n| --- | --- | --- |\n")
	for _, field := range list {
		must := slices.ContainsFunc(needed, func(n *node) bool { return n.text() == field.key })
		fmt.Fprintf(text, "| `%s`%s | %s | %s |\n", field.key, required(must), cell(field.value.shape()), cell(field.value.at("description").text()))
	}
}
