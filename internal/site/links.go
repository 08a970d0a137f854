package main

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// link turns links between files into links between pages. It returns an error for those that lead nowhere.
func (s *site) link() error {
	var wrong []error
	for _, p := range s.sorted() {
		for _, n := range linksOf(p.tree) {
			if err := s.linkOne(p, n); err != nil {
				wrong = append(wrong, fmt.Errorf("%s: %w", p.path, err))
			}
		}
	}
	return errors.Join(wrong...)
}

func linksOf(tree ast.Node) (list []ast.Node) {
	_ = ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n.(type) {
		case *ast.Link, *ast.Image:
			if entering {
				list = append(list, n)
			}
		}
		return ast.WalkContinue, nil
	})
	return list
}

func (s *site) linkOne(p *page, n ast.Node) error {
	if image, ok := n.(*ast.Image); ok {
		to, err := s.target(p, string(image.Destination))
		if err == nil && to == "" {
			err = fmt.Errorf("%s is not a picture", image.Destination)
		}
		image.Destination = []byte(to)
		return err
	}
	link := n.(*ast.Link)
	to, err := s.target(p, string(link.Destination))
	if err == nil && to == "" {
		unwrap(link)
	}
	link.Destination = []byte(to)
	return err
}

// unwrap replaces a link by its text, since the directory of the sources to which it leads is not in the site.
func unwrap(link *ast.Link) {
	parent := link.Parent()
	for c := link.FirstChild(); c != nil; {
		next := c.NextSibling()
		parent.InsertBefore(parent, link, c)
		c = next
	}
	parent.RemoveChild(parent, link)
}

// target returns where in the site a page's link leads, or "" if it leads nowhere.
func (s *site) target(p *page, written string) (string, error) {
	u, err := url.Parse(written)
	if err != nil {
		return "", fmt.Errorf("link %s: %w", written, err)
	}
	if u.Scheme != "" {
		return written, nil
	}
	file := p.path
	if u.Path != "" {
		dir := p.path
		if !strings.HasSuffix(dir, "/") {
			dir = path.Dir(dir)
		}
		file = path.Join(dir, u.Path)
	}
	to := s.pages[file]
	if to == nil {
		to = s.pages[file+"/"]
	}
	if to == nil {
		return s.file(p, file, u.Fragment)
	}
	if u.Fragment == "" {
		return relative(p.out, to.out), nil
	}
	if !to.headings[u.Fragment] {
		return "", fmt.Errorf("link %s: %s has no heading #%s", written, to.path, u.Fragment)
	}
	if to == p {
		return "#" + u.Fragment, nil
	}
	return relative(p.out, to.out) + "#" + u.Fragment, nil
}

// file returns the target of a link that leads to something other than a page: a file, which is copied, or "" for a
// directory of the sources.
func (s *site) file(p *page, file, fragment string) (string, error) {
	from := filepath.Join(s.root, filepath.FromSlash(file))
	info, err := os.Stat(from)
	if err != nil || strings.HasPrefix(file, "../") {
		return "", fmt.Errorf("link to %s: there is no such file in the checkout", file)
	}
	if info.IsDir() {
		return "", nil
	}
	out, under := strings.CutPrefix(file, "docs/")
	if !under || path.Ext(file) == ".html" { // a report may have the name of a page
		out = "source/" + file
	}
	s.files[file] = out
	if fragment == "" {
		return relative(p.out, out), nil
	}
	text, err := os.ReadFile(from)
	if err == nil && !bytes.Contains(text, []byte(`id="`+fragment+`"`)) {
		err = fmt.Errorf("link to %s: it has no id %q", file, fragment)
	}
	return relative(p.out, out) + "#" + fragment, err
}

// relative returns the link from one file of the site to another one.
func relative(from, to string) string {
	return strings.Repeat("../", strings.Count(from, "/")) + to
}
