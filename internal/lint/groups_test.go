package lint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	"adshard/internal/lint/source"
)

// TestImportGroups checks that imports are grouped: the standard library, other modules, this module.
func TestImportGroups(t *testing.T) {
	tree, err := source.Read("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range tree.Packages {
		for _, f := range p.Files {
			if f.Generated {
				continue
			}
			if misplaced := misplacedImport(tree.Fset, f.Syntax); misplaced != "" {
				t.Errorf("%s/%s: %s: imports stand in groups with an empty line between: the standard library, other modules, adshard/…",
					p.Path, f.Name, misplaced)
			}
		}
	}
}

// misplacedImport returns the first import that is in a group of another kind, or whose group is out of order, or ""
// if there is none.
func misplacedImport(fset *token.FileSet, f *ast.File) string {
	last, lastLine := -1, 0
	for _, spec := range f.Imports {
		name, _ := strconv.Unquote(spec.Path.Value)
		if name == "C" { // in a group of its own, below its comment
			last = -1
			continue
		}
		line := fset.Position(spec.Pos()).Line
		kind := importKind(name)
		newGroup := line > lastLine+1
		if last >= 0 && (kind < last || newGroup != (kind > last)) {
			return name
		}
		last, lastLine = kind, line
	}
	return ""
}

// importKind returns 0 for the standard library, 1 for other modules, 2 for this module.
func importKind(name string) int {
	first, _, _ := strings.Cut(name, "/")
	switch {
	case strings.HasPrefix(name+"/", source.Module+"/"):
		return 2
	case strings.Contains(first, "."):
		return 1
	}
	return 0
}

func TestMisplacedImport(t *testing.T) {
	for imports, want := range map[string]string{
		"\"fmt\"\n\n\"example.com/a\"\n\n\"adshard/b\"": "",
		"\"fmt\"\n\"io\"": "",
		"\"fmt\"\n\n\"adshard/b\"\n\n\"example.com/a\"": "example.com/a",
		"\"fmt\"\n\"adshard/b\"":                        "adshard/b",
		"\"fmt\"\n\n\"io\"":                             "io",
	} {
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, "", "package x\n\nimport (\n"+imports+"\n)\n", parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		if got := misplacedImport(fset, f); got != want {
			t.Errorf("%q: misplaced %q, want %q", imports, got, want)
		}
	}
}
