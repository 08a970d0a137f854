package lint

import (
	"go/ast"
	"strings"
	"testing"

	"adshard/internal/lint/source"
)

// TestTypeNames checks that no two types of a package differ only by case: such names cannot be told apart when they
// are spoken or searched for.
func TestTypeNames(t *testing.T) {
	for _, p := range read(t).Packages {
		for _, pair := range sameButCase(p) {
			t.Errorf("%s: the types %s and %s differ by case only; give one of them its own name", p.Path, pair[0], pair[1])
		}
	}
}

// sameButCase returns the pairs of a package's types whose names differ only by case, including types of its tests
// and within functions.
func sameButCase(p *source.Package) (pairs [][2]string) {
	seen := make(map[string]string)
	for _, f := range p.Files {
		if f.Generated {
			continue
		}
		ast.Inspect(f.Syntax, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			name := spec.Name.Name
			if other, ok := seen[strings.ToLower(name)]; ok && other != name {
				pairs = append(pairs, [2]string{other, name})
			}
			seen[strings.ToLower(name)] = name
			return true
		})
	}
	return pairs
}

// TestTypeNamesBite checks that a pair is found, and that equal names are not.
func TestTypeNamesBite(t *testing.T) {
	for _, c := range []struct {
		text string
		want int
	}{
		{"type Store struct{}\n\ntype store struct{}\n", 1},
		{"type Store struct{}\n\nfunc f() { type store struct{} }\n", 1},
		{"type (\n\tStore struct{}\n\tstores []Store\n)\n", 0},
		{"func f() { type pair int }\n\nfunc g() { type pair int }\n", 0},
	} {
		if got := sameButCase(packageOf(t, "p", "package p\n\n"+c.text)); len(got) != c.want {
			t.Errorf("%q: %v", c.text, got)
		}
	}
}
