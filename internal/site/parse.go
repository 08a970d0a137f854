package main

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// newMarkdown returns the Markdown that the pages are written in: CommonMark with tables.
func newMarkdown() goldmark.Markdown { return goldmark.New(goldmark.WithExtensions(extension.Table)) }

// parse parses all pages.
func (s *site) parse() error {
	var wrong []error
	md := newMarkdown()
	for _, p := range s.sorted() {
		p.tree = md.Parser().Parse(text.NewReader(p.text))
		if err := p.outline(); err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", p.path, err))
		}
	}
	return errors.Join(wrong...)
}

// outline gives headings their identifiers, and notes the page's title and sections.
func (p *page) outline() error {
	p.headings = make(map[string]bool)
	err := ast.Walk(p.tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			p.heading(n)
		case *ast.HTMLBlock, *ast.RawHTML:
			if raw := p.raw(n); !strings.HasPrefix(raw, "<!--") {
				return ast.WalkStop, fmt.Errorf("%q would be taken for HTML: put it between backticks", raw)
			}
		}
		return ast.WalkContinue, nil
	})
	if err == nil && p.title == "" {
		err = errors.New("the page has no heading of the first level")
	}
	return err
}

func (p *page) heading(h *ast.Heading) {
	said := p.plain(h)
	id := slug(said)
	for n := 1; p.headings[id]; n++ {
		id = fmt.Sprintf("%s-%d", slug(said), n)
	}
	p.headings[id] = true
	h.SetAttributeString("id", []byte(id))
	switch {
	case h.Level == 1 && p.title == "":
		p.title = said
	case h.Level == 2:
		p.sections = append(p.sections, section{said, id})
	}
}

// slug returns the identifier that sites that show Markdown give a heading: in lower case, with hyphens for spaces
// and without other punctuation.
func slug(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}

// plain returns the text of a node without markup.
func (p *page) plain(n ast.Node) string {
	var out strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			out.Write(c.Segment.Value(p.text))
			if c.SoftLineBreak() {
				out.WriteByte(' ')
			}
		case *ast.String:
			out.Write(c.Value)
		default:
			out.WriteString(p.plain(c))
		}
	}
	return out.String()
}

// raw returns the source of an HTML node.
func (p *page) raw(n ast.Node) string {
	if inline, ok := n.(*ast.RawHTML); ok {
		var out bytes.Buffer
		for i := range inline.Segments.Len() {
			segment := inline.Segments.At(i)
			out.Write(segment.Value(p.text))
		}
		return out.String()
	}
	lines := n.Lines()
	if lines.Len() == 0 {
		return ""
	}
	first := lines.At(0)
	return strings.TrimSpace(string(first.Value(p.text)))
}
