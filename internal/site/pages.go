package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// page is a page of the site.
type page struct {
	path  string // in the checkout
	out   string // in the site
	text  []byte // Markdown
	tree  ast.Node
	title string
	// headings are the identifiers of all headings, and sections are the headings of the second level.
	headings map[string]bool
	sections []section
}

type section struct{ Title, ID string }

// site holds all pages, by their paths in the checkout.
type site struct {
	root  string
	pages map[string]*page
	// files are copied unchanged: from their path in the checkout to their path in the site.
	files map[string]string
}

// build builds the site of a checkout.
func build(root, out string) error {
	s := &site{root: root, pages: make(map[string]*page), files: make(map[string]string)}
	if err := s.read(); err != nil {
		return err
	}
	for _, step := range []func() error{s.makeLists, s.makeReference} {
		if err := step(); err != nil {
			return err
		}
	}
	if err := errors.Join(s.parse(), s.link(), s.navigable()); err != nil {
		return err
	}
	return s.write(out)
}

// read reads the pages that exist as files.
func (s *site) read() error {
	for _, name := range []string{home, "CHANGELOG.md", "CONTRIBUTING.md"} {
		if err := s.readPage(name); err != nil {
			return err
		}
	}
	return fs.WalkDir(os.DirFS(s.root), "docs", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".md" {
			return err
		}
		return s.readPage(name)
	})
}

func (s *site) readPage(name string) error {
	text, err := os.ReadFile(filepath.Join(s.root, filepath.FromSlash(name)))
	if err != nil {
		return err
	}
	s.add(name, text)
	return nil
}

// add adds a page by its path and text.
func (s *site) add(name string, text []byte) {
	out := strings.TrimSuffix(strings.TrimPrefix(name, "docs/"), ".md") + ".html"
	if name == home {
		out = "index.html"
	}
	if strings.HasSuffix(name, "/") {
		out = strings.TrimPrefix(name, "docs/") + "index.html"
	}
	s.pages[name] = &page{path: name, out: out, text: text}
}

// sorted returns the pages by path.
func (s *site) sorted() []*page {
	list := make([]*page, 0, len(s.pages))
	for _, p := range s.pages {
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b *page) int { return cmp.Compare(a.path, b.path) })
	return list
}

// below returns the pages that are files of a directory, by path.
func (s *site) below(dir string) (list []*page) {
	for _, p := range s.sorted() {
		if path.Dir(p.path)+"/" == dir && p.path != dir {
			list = append(list, p)
		}
	}
	return list
}

// makeLists makes the pages that list a directory's pages and reports.
func (s *site) makeLists() error {
	for dir, title := range lists {
		var text strings.Builder
		fmt.Fprintf(&text, "# %s\n\n", title)
		for _, p := range s.below(dir) {
			heading, _, _ := strings.Cut(strings.TrimPrefix(string(p.text), "# "), "\n")
			fmt.Fprintf(&text, "- [%s](%s)\n", heading, path.Base(p.path))
		}
		reports, err := fs.Glob(os.DirFS(s.root), dir+"*.html")
		if err != nil {
			return err
		}
		if len(reports) > 0 {
			text.WriteString("\n## Reports with charts\n\n")
		}
		for _, report := range reports {
			fmt.Fprintf(&text, "- [%s](%[1]s)\n", path.Base(report))
		}
		s.add(dir, []byte(text.String()))
	}
	return nil
}

// navigable returns an error for pages that are in no group, and for names in groups that are not pages.
func (s *site) navigable() error {
	var wrong []error
	named := map[string]bool{home: true}
	for _, g := range groups {
		for _, name := range g.pages {
			if strings.HasSuffix(name, "*") {
				continue
			}
			if named[name] = true; s.pages[name] == nil {
				wrong = append(wrong, fmt.Errorf("the group %s has %s, which is not a page", g.title, name))
			}
		}
	}
	for _, p := range s.sorted() {
		if !named[p.path] && lists[path.Dir(p.path)+"/"] == "" {
			wrong = append(wrong, fmt.Errorf("%s is in no group of internal/site/groups.go", p.path))
		}
	}
	return errors.Join(wrong...)
}
