package main

import (
	"bytes"
	_ "embed"
	"html/template"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"adshard/internal/outfile"
)

//go:embed page.html
var layout string

//go:embed style.css
var style string

// view is the data that the layout shows.
type view struct {
	Title, Home string
	Style       template.CSS
	Body        template.HTML
	Groups      []navigation
}

type navigation struct {
	Title string
	Pages []entry
}

type entry struct {
	Title, Href string
	Current     bool
	Sections    []section // of the current page
}

// write writes pages and files.
func (s *site) write(dir string) error {
	t, err := template.New("page").Parse(layout)
	if err != nil {
		return err
	}
	md := newMarkdown()
	for _, p := range s.sorted() {
		var body, out bytes.Buffer
		if err := md.Renderer().Render(&body, p.text, p.tree); err != nil {
			return err
		}
		v := view{Title: p.title, Home: relative(p.out, "index.html"), Style: template.CSS(style), Body: template.HTML(body.String()), Groups: s.navigation(p)}
		if err := t.Execute(&out, v); err != nil {
			return err
		}
		if err := put(dir, p.out, out.Bytes()); err != nil {
			return err
		}
	}
	for from, to := range s.files {
		content, err := os.ReadFile(filepath.Join(s.root, filepath.FromSlash(from)))
		if err == nil {
			err = put(dir, to, content)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func put(dir, name string, content []byte) error {
	file := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	// A page may overwrite any file there, since the directory is made only for the site.
	page := outfile.Output{Path: file, Kind: outfile.Kind{Name: "a page", Mode: outfile.Public}, Force: true}
	return page.WriteBytes(content)
}

// navigation returns the navigation next to a page.
func (s *site) navigation(at *page) (out []navigation) {
	for _, g := range groups {
		n := navigation{Title: g.title}
		for _, name := range g.pages {
			list := []*page{s.pages[name]}
			if dir, all := strings.CutSuffix(name, "*"); all {
				list = s.below(dir)
				slices.SortFunc(list, func(a, b *page) int { return strings.Compare(a.title, b.title) })
			}
			for _, p := range list {
				n.Pages = append(n.Pages, entryOf(p, at))
			}
		}
		out = append(out, n)
	}
	return out
}

func entryOf(p, at *page) entry {
	e := entry{Title: p.title, Href: relative(at.out, p.out)}
	// Decisions are not in the navigation, but the list of them is.
	if p == at || strings.HasSuffix(p.path, "decisions/") && path.Dir(at.path)+"/" == p.path {
		e.Current, e.Sections = true, at.sections
	}
	return e
}
