package source

import (
	"go/ast"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
)

// Go is the entry in the result of Uses for files that start a goroutine.
const Go = "go"

// Imports returns the paths that files import, each once, sorted.
func Imports(files []*File) []string {
	found := make(map[string]bool)
	for _, f := range files {
		for _, spec := range f.Syntax.Imports {
			found[importPath(spec)] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// Uses returns the names from packages outside the module that files mention, each once, sorted. A mention of
// time.Now is "time.Now" under whatever name time is imported. An import by "." is "time.*", and a go statement is
// Go.
func Uses(files []*File) []string {
	found := make(map[string]bool)
	for _, f := range files {
		imported := make(map[string]string) // paths by the name in this file
		for _, spec := range f.Syntax.Imports {
			p := importPath(spec)
			if Under(p, Module) {
				continue
			}
			switch name := importName(spec); name {
			case ".":
				found[p+".*"] = true
			default:
				imported[name] = p
			}
		}
		ast.Inspect(f.Syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				found[Go] = true
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && imported[x.Name] != "" {
					found[imported[x.Name]+"."+n.Sel.Name] = true
				}
			}
			return true
		})
	}
	return slices.Sorted(maps.Keys(found))
}

func importPath(spec *ast.ImportSpec) string {
	p, err := strconv.Unquote(spec.Path.Value)
	if err != nil { // the parser rejects such a file
		return spec.Path.Value
	}
	return p
}

var majorVersion = regexp.MustCompile(`^v[0-9]+$`)

// importName returns the name under which a file uses an import. Without a name of its own, that is the last element
// of the path that is not a version, which is right for the standard library.
func importName(spec *ast.ImportSpec) string {
	if spec.Name != nil {
		return spec.Name.Name
	}
	p := importPath(spec)
	if majorVersion.MatchString(path.Base(p)) {
		p = path.Dir(p)
	}
	return path.Base(p)
}
