package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"adshard/internal/lint/source"
)

// program holds packages of a checkout with their types. The project's own packages are all checked from source, so
// that a type is the same wherever it is used.
type program struct {
	fset     *token.FileSet
	packages []*checked // in scope, in the order of their imports
}

type checked struct {
	path  string // in the checkout
	files []*ast.File
	types *types.Package
	info  *types.Info
}

// listed is the part of go list's output that load reads.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles, CgoFiles       []string
}

// load checks the packages below roots and what they import, without the packages that support tests. It compiles the
// packages that are not in the build cache.
func load(ctx context.Context, dir string, roots []string) (*program, error) {
	args := []string{"list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,CgoFiles"}
	for _, r := range roots {
		args = append(args, "./"+r+"/...")
	}
	out, err := goTool(ctx, dir, args...)
	if err != nil {
		return nil, err
	}
	p := &program{fset: token.NewFileSet()}
	exports := make(map[string]string)
	own := make(map[string]*types.Package)
	compiled := importer.ForCompiler(p.fset, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})
	imported := importFunc(func(path string) (*types.Package, error) {
		if p := own[path]; p != nil {
			return p, nil
		}
		return compiled.Import(path)
	})
	for list := json.NewDecoder(bytes.NewReader(out)); ; {
		var l listed
		if err := list.Decode(&l); errors.Is(err, io.EOF) {
			return p, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		path, ours := strings.CutPrefix(l.ImportPath, source.Module+"/")
		if !ours {
			exports[l.ImportPath] = l.Export
			continue
		}
		c, err := p.check(path, &l, imported)
		if err != nil {
			return nil, err
		}
		own[l.ImportPath] = c.types
		if within(path, roots) && !source.TestSupport(path) {
			p.packages = append(p.packages, c)
		}
	}
}

func within(path string, roots []string) bool {
	for _, r := range roots {
		if source.Under(path, r) {
			return true
		}
	}
	return false
}

func (p *program) check(path string, l *listed, imported types.Importer) (*checked, error) {
	c := &checked{path: path, info: &types.Info{
		Types: make(map[ast.Expr]types.TypeAndValue), Defs: make(map[*ast.Ident]types.Object),
		Uses: make(map[*ast.Ident]types.Object), Selections: make(map[*ast.SelectorExpr]*types.Selection),
	}}
	for _, names := range [][]string{l.GoFiles, l.CgoFiles} {
		for _, name := range names {
			f, err := parser.ParseFile(p.fset, filepath.Join(l.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				return nil, err
			}
			c.files = append(c.files, f)
		}
	}
	config := types.Config{Importer: imported, FakeImportC: true}
	var err error
	c.types, err = config.Check(l.ImportPath, p.fset, c.files, c.info)
	return c, err
}

type importFunc func(path string) (*types.Package, error)

func (f importFunc) Import(path string) (*types.Package, error) { return f(path) }

// linkedModules returns the number of other modules that the programs of ./cmd link.
func linkedModules(ctx context.Context, dir string) (int, error) {
	out, err := goTool(ctx, dir, "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}", "./cmd/...")
	if err != nil {
		return 0, err
	}
	modules := make(map[string]bool)
	for m := range strings.FieldsSeq(string(out)) {
		modules[m] = true
	}
	return len(modules), nil
}

// goTool runs the go tool in a checkout and returns its output. An error contains what the tool wrote to standard
// error.
func goTool(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off")
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s in %s: %w\n%s", args[0], dir, err, bytes.TrimSpace(said.Bytes()))
	}
	return out, nil
}
