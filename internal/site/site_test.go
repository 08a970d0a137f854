package main

import (
	"html"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	links       = regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	identifiers = regexp.MustCompile(` id="([^"]*)"`)
)

// TestSite builds the site of this checkout, and checks the links of its finished pages once more.
func TestSite(t *testing.T) {
	dir := t.TempDir()
	if err := build("../..", dir); err != nil {
		t.Fatal(err)
	}
	pages := make(map[string]string)
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, name))
		pages[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	drawn := 0
	for name, text := range pages {
		if !strings.Contains(text, `<nav id="contents"`) {
			if path.Ext(name) == ".html" && !strings.HasPrefix(name, "source/") {
				t.Errorf("%s is not a page", name)
			}
			continue // a copied file
		}
		drawn++
		for _, m := range links.FindAllStringSubmatch(text, -1) {
			if wrong := broken(pages, name, html.UnescapeString(m[1])); wrong != "" {
				t.Errorf("%s: %s: %s", name, m[1], wrong)
			}
		}
		if strings.Contains(text, "<script") || strings.Contains(text, "<link") {
			t.Errorf("%s has a script, or loads a file", name)
		}
	}
	if drawn < 60 || pages["tutorial.html"] == "" || pages["console/overview.png"] == "" {
		t.Errorf("%d pages", drawn)
	}
}

func broken(pages map[string]string, from, link string) string {
	u, err := url.Parse(link)
	switch {
	case err != nil:
		return err.Error()
	case u.Scheme != "":
		return ""
	}
	to := from
	if u.Path != "" {
		to = path.Join(path.Dir(from), u.Path)
	}
	text, ok := pages[to]
	if !ok {
		return "there is no " + to
	}
	for _, m := range identifiers.FindAllStringSubmatch(text, -1) {
		if html.UnescapeString(m[1]) == u.Fragment {
			return ""
		}
	}
	if u.Fragment != "" {
		return to + " has no id " + u.Fragment
	}
	return ""
}

// TestMistakes: a link that leads nowhere is found, and so is text that the site would lose.
func TestMistakes(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"docs/picture.png", "docs/report.html", "deploy/rules.yml"} {
		if err := put(root, name, []byte(`<p id="there">`)); err != nil {
			t.Fatal(err)
		}
	}
	for text, want := range map[string]string{
		"[a](other.md)":                      "",
		"[a](other.md#two-words--more)":      "",
		"[a](other.md#again-1)":              "",
		"[a](#page)":                         "",
		"[a](../README.md)":                  "",
		"[a](../deploy)":                     "",
		"[a](../deploy/rules.yml)":           "",
		"[a](report.html#there)":             "",
		"![a](picture.png)":                  "",
		"[a](https://example.org/#nowhere)":  "",
		"`<NAME>` <!-- measured -->":         "",
		"[a](others.md)":                     "link to docs/others.md: there is no such file",
		"[a](other.md#three)":                "docs/other.md has no heading #three",
		"[a](other.md#two-words-more)":       "has no heading",
		"[a](#other)":                        "docs/page.md has no heading #other",
		"[a](../../outside.md)":              "no such file in the checkout",
		"[a](report.html#nowhere)":           `has no id "nowhere"`,
		"![a](picture.jpg)":                  "there is no such file",
		"![a](../deploy)":                    "is not a picture",
		"the file <NAME>":                    `"<NAME>" would be taken for HTML`,
		"<div>\n\ntext\n\n</div>":            `"<div>" would be taken for HTML`,
		"| a |\n| --- |\n| [a](others.md) |": "docs/others.md",
	} {
		s := &site{root: root, pages: make(map[string]*page), files: make(map[string]string)}
		s.add(home, []byte("# adshard\n"))
		s.add("docs/page.md", []byte("# Page\n\n"+text+"\n"))
		s.add("docs/other.md", []byte("# Other\n\n## Two `words` & [more](page.md)\n\n### Again\n\n### Again\n"))
		err := s.parse()
		if err == nil {
			err = s.link()
		}
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v; want %q", text, err, want)
		}
	}
}

// TestPagesAreInGroups: a page without a link to it, and a name without a page, are errors.
func TestPagesAreInGroups(t *testing.T) {
	s := &site{pages: make(map[string]*page)}
	for _, g := range groups {
		for _, name := range g.pages {
			if !strings.HasSuffix(name, "*") {
				s.add(name, nil)
			}
		}
	}
	s.add("docs/decisions/001-first.md", nil)
	if err := s.navigable(); err != nil {
		t.Fatal(err)
	}
	s.add("docs/lost.md", nil)
	if err := s.navigable(); err == nil || !strings.Contains(err.Error(), "docs/lost.md is in no group") {
		t.Errorf("docs/lost.md: %v", err)
	}
	delete(s.pages, "docs/lost.md")
	delete(s.pages, "docs/install.md")
	if err := s.navigable(); err == nil || !strings.Contains(err.Error(), "the group How-to has docs/install.md, which is not a page") {
		t.Errorf("docs/install.md: %v", err)
	}
}
