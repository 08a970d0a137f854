package lint

import (
	"go/ast"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"adshard/internal/lint/source"
)

var (
	entryTerm = regexp.MustCompile(`(?m)^\*\*([^*]+)\*\*:`)
	// namedCode matches a name of a package and, optionally, its file, as in "`balance.Move`, slice.go".
	namedCode = regexp.MustCompile("`([a-z]+)\\.([A-Za-z]\\w*)`(?:, (\\w+\\.go))?")
	namedPath = regexp.MustCompile("`((?:[a-z]+/)+[a-z]+(?:\\.go)?)`")
)

// TestGlossary checks that everything that docs/glossary.md names exists: each name of a package, in the file of the
// same name or the one that the entry gives, and each path. It also checks that the entries are in alphabetical
// order.
func TestGlossary(t *testing.T) {
	text, err := os.ReadFile("../../docs/glossary.md")
	if err != nil {
		t.Fatal(err)
	}
	if n := len(namedCode.FindAll(text, -1)); n < 40 {
		t.Errorf("only %d names of code: the glossary is not read right", n)
	}
	for _, wrong := range glossaryFaults(read(t), string(text)) {
		t.Errorf("docs/glossary.md: %s", wrong)
	}
}

func glossaryFaults(tree *source.Tree, text string) (wrong []string) {
	var terms []string
	for _, m := range entryTerm.FindAllStringSubmatch(text, -1) {
		terms = append(terms, strings.ToLower(m[1]))
	}
	for i := 1; i < len(terms); i++ {
		if terms[i] < terms[i-1] {
			wrong = append(wrong, terms[i]+" stands after "+terms[i-1])
		}
	}
	for _, m := range namedCode.FindAllStringSubmatch(text, -1) {
		want := m[3]
		if want == "" {
			want = strings.ToLower(m[2]) + ".go"
		}
		if files := filesOf(tree, m[1], m[2]); !slices.Contains(files, want) {
			wrong = append(wrong, m[1]+"."+m[2]+" is not in "+want+", but in ["+strings.Join(files, " ")+"]")
		}
	}
	for _, m := range namedPath.FindAllStringSubmatch(text, -1) {
		if !slices.ContainsFunc(tree.Packages, func(p *source.Package) bool {
			return p.Path == m[1] || slices.ContainsFunc(p.Files, func(f *source.File) bool { return path.Join(p.Path, f.Name) == m[1] })
		}) {
			wrong = append(wrong, "there is no "+m[1])
		}
	}
	return wrong
}

// filesOf returns the files that declare a name in packages with the given name.
func filesOf(tree *source.Tree, pkg, name string) (files []string) {
	for _, p := range tree.Packages {
		if path.Base(p.Path) != pkg {
			continue
		}
		for _, f := range p.Production() {
			for _, d := range f.Syntax.Decls {
				if declares(d, name) {
					files = append(files, f.Name)
				}
			}
		}
	}
	return files
}

// declares reports whether a declaration makes a type, constant or function with the given name.
func declares(d ast.Decl, name string) bool {
	switch d := d.(type) {
	case *ast.FuncDecl:
		return d.Recv == nil && d.Name.Name == name
	case *ast.GenDecl:
		return slices.ContainsFunc(d.Specs, func(s ast.Spec) bool {
			switch s := s.(type) {
			case *ast.TypeSpec:
				return s.Name.Name == name
			case *ast.ValueSpec:
				return slices.ContainsFunc(s.Names, func(n *ast.Ident) bool { return n.Name == name })
			}
			return false
		})
	}
	return false
}

// TestGlossaryBites checks that wrong entries are found.
func TestGlossaryBites(t *testing.T) {
	p := packageOf(t, "barrels/index", "package index\n\ntype Class struct{}\n\nconst Most = 1\n")
	tree := &source.Tree{Packages: []*source.Package{p}}
	for text, want := range map[string]string{
		"**A**: x (`index.Class`, p.go).\n**B**: y (`index.Most`, p.go; `barrels/index/p.go`).\n": "",
		"**B**: x.\n**A**: y.\n":             "a stands after b",
		"**A**: x (`index.Class`).\n":        "index.Class is not in class.go, but in [p.go]",
		"**A**: x (`index.Gone`, p.go).\n":   "index.Gone is not in p.go, but in []",
		"**A**: x (`barrels/index/q.go`).\n": "there is no barrels/index/q.go",
	} {
		if got := strings.Join(glossaryFaults(tree, text), "; "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
