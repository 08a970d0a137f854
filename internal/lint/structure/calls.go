package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/types"
	"io"
	"maps"
	"slices"

	"adshard/internal/lint/source"
)

// The path of a query is followed from the store's Search through these packages and those below them.
const (
	searchPackage = "barrels"
	searchMethod  = "Search"
)

var scope = []string{"search", "barrels"}

// pair counts the places in one package that may call another.
type pair struct {
	from, to string
	calls    int
	indirect int // of these, through an interface or a variable
}

// callsFrom follows the calls from all methods of this name in a package. It counts the calls from one package to
// another, once for each place in the source.
func (p *program) callsFrom(pkg, method string) ([]pair, error) {
	g := newGraph(p)
	var todo []*types.Func
	for f, in := range g.functions {
		if in.in.path == pkg && f.Name() == method && f.Signature().Recv() != nil {
			todo = append(todo, f)
		}
	}
	if len(todo) == 0 {
		return nil, fmt.Errorf("package %s has no method %s to begin at", pkg, method)
	}
	pairs := make(map[[2]string]*pair)
	reached := make(map[*types.Func]bool)
	for len(todo) > 0 {
		f := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if in := g.functions[f]; !reached[f] && in.decl.Body != nil {
			reached[f] = true
			todo = append(todo, g.follow(in, pairs)...)
		}
	}
	return slices.SortedFunc(func(yield func(pair) bool) {
		for p := range maps.Values(pairs) {
			if !yield(*p) {
				return
			}
		}
	}, func(a, b pair) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) }), nil
}

// follow counts the calls in a function and returns the functions that it may call or pass on.
func (g *graph) follow(f *function, pairs map[[2]string]*pair) (next []*types.Func) {
	ast.Inspect(f.decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			if o, ok := f.in.info.Uses[n].(*types.Func); ok && g.functions[o.Origin()] != nil {
				next = append(next, o.Origin())
			}
		case *ast.CallExpr:
			targets, indirect := g.targets(f.in, n)
			to := make(map[string]bool)
			for _, t := range targets {
				if t.literal != nil {
					to[t.in.path] = true
				} else {
					next = append(next, t.declared)
					to[g.functions[t.declared].in.path] = true
				}
			}
			delete(to, f.in.path)
			for path := range to {
				at := [2]string{f.in.path, path}
				if pairs[at] == nil {
					pairs[at] = &pair{from: f.in.path, to: path}
				}
				pairs[at].calls++
				if indirect {
					pairs[at].indirect++
				}
			}
		}
		return true
	})
	return next
}

func writeCalls(w io.Writer, pairs []pair, layers *source.Layers) {
	fmt.Fprint(w, "Calls between packages on the path of a query, by their places in the source:\n\n")
	fmt.Fprint(w, "| from | to | calls | through an interface or a variable | against the grain |\n| --- | --- | ---: | ---: | ---: |\n")
	var calls, indirect, against int
	for _, p := range pairs {
		up := 0
		if layers.Against(source.Arrow{From: p.from, To: p.to}) {
			up = p.calls
		}
		fmt.Fprintf(w, "| %s | %s | %d | %d | %d |\n", p.from, p.to, p.calls, p.indirect, up)
		calls, indirect, against = calls+p.calls, indirect+p.indirect, against+up
	}
	fmt.Fprintf(w, "| all | | %d | %d | %d |\n", calls, indirect, against)
}
