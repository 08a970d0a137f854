package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"io"
	"slices"
	"strings"

	"adshard/internal/lint/source"
)

// longest is the most lines that a function should have.
const longest = 60

// figures holds the counts for a part of a checkout.
type figures struct {
	packages  int
	files     []int // production files of each package
	largest   string
	functions int
	long      []string // functions with more lines than longest, with the number of their lines
	tests     int      // functions in test files
	longTests int
	exported  int
	bare      []string // exported names without a doc comment
	methods   int      // of the type with the most methods
	widest    string   // that type
}

func writeFigures(w io.Writer, tree *source.Tree, layers *source.Layers, modules int) {
	parts := []*figures{{}, {}}
	for _, p := range tree.Packages {
		part := parts[0]
		if source.Under(p.Path, "bench") || p.Path == "cmd/adbench" {
			part = parts[1]
		}
		part.add(tree.Fset, p)
	}
	row := func(what string, cell func(*figures) string) {
		fmt.Fprintf(w, "| %s | %s | %s |\n", what, cell(parts[0]), cell(parts[1]))
	}
	fmt.Fprint(w, "| | product and its tests | bench |\n| --- | ---: | ---: |\n")
	row("packages", func(f *figures) string { return fmt.Sprint(f.packages) })
	row("files a package: median", func(f *figures) string { return fmt.Sprint(f.median()) })
	row("files a package: most", func(f *figures) string { return f.most() })
	row("functions", func(f *figures) string { return fmt.Sprint(f.functions) })
	row(fmt.Sprintf("of more than %d lines", longest), func(f *figures) string { return share(len(f.long), f.functions) })
	row("methods of a type: most", (*figures).mostMethods)
	row("functions of tests", func(f *figures) string { return fmt.Sprint(f.tests) })
	row(fmt.Sprintf("of more than %d lines", longest), func(f *figures) string { return share(f.longTests, f.tests) })
	row("exported names", func(f *figures) string { return fmt.Sprint(f.exported) })
	row("without a doc comment", func(f *figures) string { return fmt.Sprint(len(f.bare)) })
	up := layers.Upward(tree)
	var upProduct, upBench int
	for _, a := range up {
		if source.Under(a.From, "bench") || a.From == "cmd/adbench" {
			upBench++
		} else {
			upProduct++
		}
	}
	fmt.Fprintf(w, "| imports against the grain | %d | %d |\n", upProduct, upBench)
	fmt.Fprintf(w, "| modules linked by ./cmd | %d | |\n\n", modules)

	list(w, "Imports against the grain", len(up), func(i int) string { return up[i].From + " → " + up[i].To })
	unplaced := layers.Unplaced(tree)
	list(w, "Packages without a row in docs/architecture.md", len(unplaced), func(i int) string { return unplaced[i] })
	long := slices.Concat(parts[0].long, parts[1].long)
	list(w, fmt.Sprintf("Functions of more than %d lines", longest), len(long), func(i int) string { return long[i] })
	bare := slices.Concat(parts[0].bare, parts[1].bare)
	list(w, "Exported names without a doc comment", len(bare), func(i int) string { return bare[i] })
}

func list(w io.Writer, title string, n int, item func(i int) string) {
	if n == 0 {
		return
	}
	fmt.Fprintf(w, "%s:\n\n", title)
	for i := range n {
		fmt.Fprintf(w, "- %s\n", item(i))
	}
	fmt.Fprintln(w)
}

func share(n, of int) string {
	if of == 0 {
		return "0"
	}
	return fmt.Sprintf("%d (%.1f %%)", n, 100*float64(n)/float64(of))
}

func (f *figures) median() int {
	if len(f.files) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(f.files))
	return sorted[len(sorted)/2]
}

func (f *figures) most() string {
	if len(f.files) == 0 {
		return "0"
	}
	return fmt.Sprintf("%d (%s)", slices.Max(f.files), f.largest)
}

func (f *figures) mostMethods() string {
	if f.methods == 0 {
		return "0"
	}
	return fmt.Sprintf("%d (%s)", f.methods, f.widest)
}

// add counts a package. Generated files are counted only as files.
func (f *figures) add(fset *token.FileSet, p *source.Package) {
	production := p.Production()
	if n := len(production); n > 0 {
		f.packages++
		if len(f.files) == 0 || n > slices.Max(f.files) {
			f.largest = p.Path
		}
		f.files = append(f.files, n)
	}
	reached := reachable(production)
	methods := make(map[string]int)
	for _, file := range p.Files {
		if file.Generated {
			continue
		}
		for _, d := range file.Syntax.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				f.addFunction(fset, p, file, fn)
				if r := receiver(fn); r != "" && !file.Test {
					methods[r]++
				}
			}
			if !file.Test {
				f.addNames(p, d, reached)
			}
		}
	}
	for name, n := range methods {
		if of := p.Path + "." + name; n > f.methods || n == f.methods && of < f.widest {
			f.methods, f.widest = n, of
		}
	}
}

func (f *figures) addFunction(fset *token.FileSet, p *source.Package, file *source.File, fn *ast.FuncDecl) {
	lines := fset.Position(fn.End()).Line - fset.Position(fn.Pos()).Line + 1
	switch {
	case file.Test:
		f.tests++
		if lines > longest {
			f.longTests++
		}
	default:
		f.functions++
		if lines > longest {
			f.long = append(f.long, fmt.Sprintf("%s: %s, %d lines", p.Path, functionName(fn), lines))
		}
	}
}

func functionName(fn *ast.FuncDecl) string {
	if r := receiver(fn); r != "" {
		return r + "." + fn.Name.Name
	}
	return fn.Name.Name
}

// receiver returns the name of a method's type, or "" for a function.
func receiver(fn *ast.FuncDecl) string {
	if fn.Recv == nil || len(fn.Recv.List) == 0 {
		return ""
	}
	t := fn.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

// reachable returns the names in the types of exported fields of exported structs. The methods of such a type can be
// called from elsewhere, whatever its name.
func reachable(files []*source.File) map[string]bool {
	names := make(map[string]bool)
	for _, file := range files {
		ast.Inspect(file.Syntax, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			s, ok := spec.Type.(*ast.StructType)
			if !ok || !spec.Name.IsExported() {
				return false
			}
			for _, field := range s.Fields.List {
				if !slices.ContainsFunc(field.Names, (*ast.Ident).IsExported) {
					continue
				}
				ast.Inspect(field.Type, func(n ast.Node) bool {
					if name, ok := n.(*ast.Ident); ok {
						names[name.Name] = true
					}
					return true
				})
			}
			return false
		})
	}
	return names
}

// addNames counts the exported names that a declaration makes: functions, methods of exported types and of reachable
// ones, types, constants and variables. A comment on a group or at the end of a line is documentation, too.
func (f *figures) addNames(p *source.Package, d ast.Decl, reached map[string]bool) {
	count := func(name string, documented bool) {
		if !ast.IsExported(name[strings.LastIndexByte(name, '.')+1:]) {
			return
		}
		f.exported++
		if !documented {
			f.bare = append(f.bare, p.Path+": "+name)
		}
	}
	switch d := d.(type) {
	case *ast.FuncDecl:
		if r := receiver(d); r == "" || ast.IsExported(r) || reached[r] {
			count(functionName(d), d.Doc != nil)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				count(s.Name.Name, d.Doc != nil || s.Doc != nil || s.Comment != nil)
			case *ast.ValueSpec:
				for _, name := range s.Names {
					count(name.Name, d.Doc != nil || s.Doc != nil || s.Comment != nil)
				}
			}
		}
	}
}
