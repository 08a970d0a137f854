package main

import (
	"go/ast"
	"go/types"
)

// assignments notes everything that may put a function into a variable.
func (g *graph) assignments(c *checked, f *ast.File) {
	var enclosing []*types.Signature // signatures of the enclosing functions, for their results
	var walk func(n ast.Node) bool
	inside := func(s *types.Signature, body *ast.BlockStmt) {
		if body != nil && s != nil {
			enclosing = append(enclosing, s)
			ast.Inspect(body, walk)
			enclosing = enclosing[:len(enclosing)-1]
		}
	}
	walk = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			s, _ := c.info.Defs[n.Name].Type().(*types.Signature)
			inside(s, n.Body)
			return false
		case *ast.FuncLit:
			s, _ := c.info.Types[n].Type.(*types.Signature)
			inside(s, n.Body)
			return false
		case *ast.AssignStmt:
			for i, to := range n.Lhs {
				g.assign(c, c.variable(to), n.Rhs[min(i, len(n.Rhs)-1)])
			}
		case *ast.ValueSpec:
			for i, name := range n.Names {
				if len(n.Values) > 0 {
					g.assign(c, c.variable(name), n.Values[min(i, len(n.Values)-1)])
				}
			}
		case *ast.RangeStmt:
			g.assign(c, c.variable(n.Value), n.X)
		case *ast.CompositeLit:
			g.fields(c, n)
		case *ast.ReturnStmt:
			results := enclosing[len(enclosing)-1].Results()
			for i, e := range n.Results {
				if i < results.Len() {
					g.assign(c, results.At(i), e)
				}
			}
		case *ast.CallExpr:
			g.arguments(c, n)
		}
		return true
	}
	ast.Inspect(f, walk)
}

func (g *graph) assign(c *checked, to *types.Var, e ast.Expr) {
	if to != nil && e != nil {
		vars, values := g.sources(c, e)
		g.flow.assign(to, vars, values)
	}
}

// fields notes what the literal of a struct puts into its fields.
func (g *graph) fields(c *checked, literal *ast.CompositeLit) {
	t := c.info.Types[literal].Type.Underlying()
	if p, ok := t.(*types.Pointer); ok { // an element of a slice of pointers
		t = p.Elem().Underlying()
	}
	s, ok := t.(*types.Struct)
	if !ok {
		return
	}
	for i, e := range literal.Elts {
		if pair, ok := e.(*ast.KeyValueExpr); ok {
			g.assign(c, c.variable(pair.Key), pair.Value)
		} else {
			g.assign(c, s.Field(i), e)
		}
	}
}

// arguments notes what a call puts into the parameters of the functions that it may reach.
func (g *graph) arguments(c *checked, call *ast.CallExpr) {
	targets, _ := g.targets(c, call)
	for _, t := range targets {
		params := t.signature().Params()
		for i, a := range call.Args {
			if n := params.Len(); n > 0 {
				g.assign(c, params.At(min(i, n-1)), a)
			}
		}
	}
}

// variable returns the variable that an expression denotes or is a part of, or nil.
func (c *checked) variable(e ast.Expr) *types.Var {
	var id *ast.Ident
	switch e := e.(type) {
	case *ast.Ident:
		id = e
	case *ast.SelectorExpr:
		id = e.Sel
	case *ast.ParenExpr:
		return c.variable(e.X)
	case *ast.IndexExpr:
		return c.variable(e.X)
	case *ast.StarExpr:
		return c.variable(e.X)
	default:
		return nil
	}
	v, ok := c.info.ObjectOf(id).(*types.Var)
	if !ok {
		return nil
	}
	return v
}
