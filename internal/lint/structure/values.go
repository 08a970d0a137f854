package main

import (
	"go/ast"
	"go/types"
	"maps"
	"slices"
)

// value is a function that a variable may hold: a declared function, or a function literal.
type value struct {
	declared *types.Func
	literal  *ast.FuncLit
	in       *checked // of a literal
}

func (v value) signature() *types.Signature {
	if v.literal != nil {
		return v.in.info.Types[v.literal].Type.(*types.Signature)
	}
	return v.declared.Signature()
}

// flow knows which functions the variables of a program may hold. Variables are local ones, parameters, results,
// fields (one for all values of a struct) and those of packages. What a slice, map or array holds is treated as held
// by the variable itself.
type flow struct {
	holds map[*types.Var]map[value]bool
	from  map[*types.Var]map[*types.Var]bool // the variables that are assigned to a variable
	grown bool                               // since it was last set to false
}

func newFlow() flow {
	return flow{holds: make(map[*types.Var]map[value]bool), from: make(map[*types.Var]map[*types.Var]bool)}
}

// assign notes what may be assigned to a variable.
func (f *flow) assign(to *types.Var, vars []*types.Var, values []value) {
	if to == nil || to.Name() == "_" || len(vars)+len(values) == 0 {
		return
	}
	to = to.Origin()
	if f.holds[to] == nil {
		f.holds[to], f.from[to] = make(map[value]bool), make(map[*types.Var]bool)
	}
	before := len(f.holds[to]) + len(f.from[to])
	for _, v := range vars {
		f.from[to][v] = true
	}
	for _, v := range values {
		f.holds[to][v] = true
	}
	f.grown = f.grown || len(f.holds[to])+len(f.from[to]) > before
}

// values returns the functions that some variables may hold, each once, in no order.
func (f *flow) values(vars []*types.Var) []value {
	seen := make(map[*types.Var]bool)
	found := make(map[value]bool)
	for len(vars) > 0 {
		v := vars[len(vars)-1]
		vars = vars[:len(vars)-1]
		if seen[v] {
			continue
		}
		seen[v] = true
		maps.Copy(found, f.holds[v])
		vars = slices.AppendSeq(vars, maps.Keys(f.from[v]))
	}
	return slices.Collect(maps.Keys(found))
}

// sources returns the variables and functions from which an expression may get its value. The expression is a
// function or a container of functions.
func (g *graph) sources(c *checked, e ast.Expr) (vars []*types.Var, values []value) {
	switch e := ast.Unparen(e).(type) {
	case *ast.FuncLit:
		return nil, []value{{literal: e, in: c}}
	case *ast.Ident:
		return g.object(c.info.Uses[e], nil)
	case *ast.SelectorExpr:
		return g.object(c.info.Uses[e.Sel], c.info.Selections[e])
	case *ast.IndexExpr: // an element, or a generic function with type arguments
		return g.sources(c, e.X)
	case *ast.IndexListExpr:
		return g.sources(c, e.X)
	case *ast.SliceExpr:
		return g.sources(c, e.X)
	case *ast.StarExpr:
		return g.sources(c, e.X)
	case *ast.UnaryExpr:
		return g.sources(c, e.X)
	case *ast.CompositeLit:
		for _, element := range e.Elts {
			if pair, ok := element.(*ast.KeyValueExpr); ok {
				element = pair.Value
			}
			v, f := g.sources(c, element)
			vars, values = append(vars, v...), append(values, f...)
		}
	case *ast.CallExpr:
		return g.results(c, e)
	}
	return vars, values
}

// results returns the variables and functions that a call may return.
func (g *graph) results(c *checked, call *ast.CallExpr) (vars []*types.Var, values []value) {
	fun := c.info.Types[call.Fun]
	if fun.IsType() && len(call.Args) == 1 {
		return g.sources(c, call.Args[0])
	}
	if fun.IsBuiltin() { // append
		for _, a := range call.Args {
			v, f := g.sources(c, a)
			vars, values = append(vars, v...), append(values, f...)
		}
		return vars, values
	}
	targets, _ := g.targets(c, call)
	for _, t := range targets {
		for v := range t.signature().Results().Variables() {
			vars = append(vars, v)
		}
	}
	return vars, nil
}

func (g *graph) object(o types.Object, s *types.Selection) (vars []*types.Var, values []value) {
	switch o := o.(type) {
	case *types.Var:
		return []*types.Var{o.Origin()}, nil
	case *types.Func:
		for _, f := range g.implementations(o.Origin(), s) {
			values = append(values, value{declared: f})
		}
	}
	return nil, values
}
