package main

import (
	"go/ast"
	"go/types"

	"adshard/internal/lint/source"
)

// graph says which functions may call which in a program. A call of an interface's method is counted as a call of
// that method of each type of the program that implements it. A call of a variable is counted as a call of each
// function that may have been stored in it.
type graph struct {
	named     []*types.Named // the types with methods
	functions map[*types.Func]*function
	flow      flow
}

// function is a declared function, with all function literals in it.
type function struct {
	in   *checked
	decl *ast.FuncDecl
}

func newGraph(p *program) *graph {
	g := &graph{
		functions: make(map[*types.Func]*function),
		flow:      newFlow(),
	}
	for _, c := range p.packages {
		for _, name := range c.types.Scope().Names() {
			t, ok := c.types.Scope().Lookup(name).(*types.TypeName)
			if !ok || t.IsAlias() {
				continue
			}
			if n := t.Type().(*types.Named); n.TypeParams().Len() == 0 && !types.IsInterface(n) {
				g.named = append(g.named, n)
			}
		}
		for _, f := range c.files {
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok {
					if o, ok := c.info.Defs[fn.Name].(*types.Func); ok {
						g.functions[o] = &function{c, fn}
					}
				}
			}
		}
	}
	for again := true; again; again = g.flow.grown { // a function that a variable holds may be called with further functions
		g.flow.grown = false
		for _, c := range p.packages {
			for _, f := range c.files {
				g.assignments(c, f)
			}
		}
	}
	return g
}

// targets returns the functions of the program that a call may reach, in no order. indirect says whether it reaches
// them through an interface or a variable.
func (g *graph) targets(c *checked, call *ast.CallExpr) (out []value, indirect bool) {
	if tv := c.info.Types[call.Fun]; tv.IsType() || tv.IsBuiltin() {
		return nil, false
	}
	vars, values := g.sources(c, call.Fun)
	if s, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
		f, ok := c.info.Uses[s.Sel].(*types.Func)
		indirect = ok && f.Signature().Recv() != nil && types.IsInterface(f.Signature().Recv().Type())
	}
	values = append(values, g.flow.values(vars)...)
	for _, v := range values {
		if v.literal != nil || g.functions[v.declared] != nil {
			out = append(out, v)
		}
	}
	return out, indirect || len(vars) > 0
}

// implementations returns the methods that a method of one of the project's own interfaces may be; any other function
// is returned itself.
func (g *graph) implementations(f *types.Func, s *types.Selection) []*types.Func {
	recv := f.Signature().Recv()
	if recv == nil || !types.IsInterface(recv.Type()) {
		return []*types.Func{f}
	}
	if f.Pkg() == nil || !source.Under(f.Pkg().Path(), source.Module) {
		return nil // error, context.Context: no path between the project's packages
	}
	i, ok := recv.Type().Underlying().(*types.Interface)
	if s != nil {
		if of, isInterface := s.Recv().Underlying().(*types.Interface); isInterface {
			i, ok = of, true
		}
	}
	if !ok {
		return nil
	}
	var out []*types.Func
	for _, n := range g.named {
		p := types.NewPointer(n)
		if !types.Implements(p, i) {
			continue
		}
		o, _, _ := types.LookupFieldOrMethod(p, true, f.Pkg(), f.Name())
		if m, ok := o.(*types.Func); ok && g.functions[m.Origin()] != nil {
			out = append(out, m.Origin())
		}
	}
	return out
}
