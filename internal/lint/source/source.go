// Package source reads a checkout of the project as parsed packages, for the
// rules of internal/lint and the figures of internal/lint/structure. It needs
// neither a build nor the network, and sees files of every platform and build
// tag.
package source

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Module is the path with which all packages of a checkout begin.
const Module = "adshard"

// Tree holds the packages of a checkout.
type Tree struct {
	Fset     *token.FileSet
	Packages []*Package // by path
}

// Package is a directory with Go files.
type Package struct {
	// Path is relative to the checkout, as in "barrels/rocks".
	Path  string
	Files []*File // by name
}

// File is a parsed Go file.
type File struct {
	Name      string // without the directory
	Test      bool   // a _test.go file
	Generated bool
	Syntax    *ast.File
}

// Read parses all packages of the checkout in root, including those of nested modules. An error names the file that
// could not be read.
func Read(root string) (*Tree, error) {
	t := &Tree{Fset: token.NewFileSet()}
	byPath := make(map[string]*Package)
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != root && ignored(entry.Name()):
			return filepath.SkipDir
		case entry.IsDir() || filepath.Ext(name) != ".go":
			return nil
		}
		rel, err := filepath.Rel(root, filepath.Dir(name))
		if err != nil {
			return err
		}
		syntax, err := parser.ParseFile(t.Fset, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		at := filepath.ToSlash(rel)
		if byPath[at] == nil {
			byPath[at] = &Package{Path: at}
		}
		byPath[at].Files = append(byPath[at].Files, &File{
			Name: entry.Name(), Test: strings.HasSuffix(name, "_test.go"), Generated: ast.IsGenerated(syntax), Syntax: syntax,
		})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the packages of %s: %w", root, err)
	}
	for _, p := range byPath {
		t.Packages = append(t.Packages, p)
	}
	slices.SortFunc(t.Packages, func(a, b *Package) int { return strings.Compare(a.Path, b.Path) })
	return t, nil
}

// ignored reports whether the go tool ignores a directory of this name.
func ignored(name string) bool {
	return name == "testdata" || name == "vendor" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")
}

// Under reports whether a package or import path is root or lies below it.
func Under(path, root string) bool { return path == root || strings.HasPrefix(path, root+"/") }

// TestSupport reports whether a package exists for the tests of others: its name ends in "test".
func TestSupport(pkg string) bool { return strings.HasSuffix(path.Base(pkg), "test") }

// Production returns the package's files that are not tests.
func (p *Package) Production() []*File {
	return slices.DeleteFunc(slices.Clone(p.Files), func(f *File) bool { return f.Test })
}
