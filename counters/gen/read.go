package main

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// source has the declarations of a file that have counters.
type source struct {
	File, Package string
	Structs       []*declared
	// Imports has the imports that the types of the fields need, and TestImports those of the
	// fields with a fold.
	Imports, TestImports []string
}

// Folds reports whether there is a fold to test.
func (s *source) Folds() bool {
	return slices.ContainsFunc(s.Structs, func(d *declared) bool {
		return slices.ContainsFunc(d.Fields, func(f *field) bool { return !f.Group })
	})
}

// declared is a struct that has counters.
type declared struct {
	Name, Key string
	Fields    []*field
}

// field is a field of a struct that is a counter or a log.
type field struct {
	Name, Type string
	Group      bool
	Entry      string // type of the entries, if it is a log
	Neutral    string // "" for the zero value
	Fold       string
	Updates    []string
	Mode       string // a Go expression
}

// Var returns the name of the variable that holds the family.
func (f *field) Var() string {
	if v := lower(f.Name); !token.IsKeyword(v) {
		return v
	}
	return lower(f.Name) + "_"
}

// Method returns the name of the method for an update.
func (f *field) Method(update string) string { return upper(update) }

func upper(s string) string { return mapFirst(s, unicode.ToUpper) }
func lower(s string) string { return mapFirst(s, unicode.ToLower) }

func mapFirst(s string, to func(rune) rune) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(to(r)) + s[n:]
}

// reader reads one file, and the functions of its whole package.
type reader struct {
	fset  *token.FileSet
	funcs map[string]*ast.FuncType
	file  *ast.File
	used  map[string]bool // packages named by the types of fields; true if a field with a fold names it
	errs  []error
}

func read(file string) (*source, error) {
	r := &reader{fset: token.NewFileSet(), funcs: make(map[string]*ast.FuncType), used: make(map[string]bool)}
	names, err := filepath.Glob(filepath.Join(filepath.Dir(file), "*.go"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, "_counters.go") {
			continue
		}
		parsed, err := parser.ParseFile(r.fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		if filepath.Base(name) == filepath.Base(file) {
			r.file = parsed
		}
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
				r.funcs[f.Name.Name] = f.Type
			}
		}
	}
	if r.file == nil {
		return nil, fmt.Errorf("gen: there is no %s", file)
	}
	return r.source(filepath.Base(file))
}

func (r *reader) source(file string) (*source, error) {
	s := &source{File: file, Package: r.file.Name.Name}
	ast.Inspect(r.file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.TypeSpec); ok {
			if st, ok := spec.Type.(*ast.StructType); ok {
				if d := r.declared(spec, st); d != nil {
					s.Structs = append(s.Structs, d)
				}
			}
		}
		return true
	})
	if len(s.Structs) == 0 && len(r.errs) == 0 {
		r.errs = append(r.errs, fmt.Errorf("%s: no struct has a field with a tag counter", file))
	}
	s.Imports, s.TestImports = r.imports(false), r.imports(true)
	return s, errors.Join(r.errs...)
}

func (r *reader) wrong(n ast.Node, format string, args ...any) {
	r.errs = append(r.errs, fmt.Errorf("%s: %s", r.fset.Position(n.Pos()), fmt.Sprintf(format, args...)))
}

// declared reads a struct, and returns nil if it has no counters.
func (r *reader) declared(spec *ast.TypeSpec, st *ast.StructType) *declared {
	d := &declared{Name: spec.Name.Name}
	tagged, methods := false, map[string]bool{"Load": true, "Run": true}
	for _, f := range st.Fields.List {
		tag, ok := tagOf(f)
		if !ok {
			continue
		}
		tagged = true
		switch {
		case len(f.Names) != 1:
			r.wrong(f, "a tag counter belongs to one field with a name")
		case tag == "key" && d.Key != "":
			r.wrong(f, "%s has two keys, %s and %s", d.Name, d.Key, f.Names[0].Name)
		case tag == "key":
			d.Key = f.Names[0].Name
		default:
			if c := r.field(f, tag); c != nil {
				d.Fields = append(d.Fields, c)
				r.methods(f, c, methods)
			}
		}
	}
	if !tagged {
		return nil
	}
	if d.Key == "" || len(d.Fields) == 0 || spec.TypeParams != nil {
		r.wrong(spec, `%s needs a field with the tag counter:"key", a counter, and no type parameters`, d.Name)
	}
	return d
}

func tagOf(f *ast.Field) (string, bool) {
	if f.Tag == nil {
		return "", false
	}
	text, err := strconv.Unquote(f.Tag.Value)
	if err != nil {
		return "", false // cannot happen: the parser has accepted it
	}
	return reflect.StructTag(text).Lookup("counter")
}

// methods reports a method that would be generated twice.
func (r *reader) methods(n ast.Node, c *field, seen map[string]bool) {
	list := []string{"Set" + upper(c.Name)}
	if c.Group {
		list = []string{"Append" + upper(c.Name)}
	}
	for _, u := range c.Updates {
		list = append(list, upper(u))
	}
	for _, m := range list {
		if seen[m] {
			r.wrong(n, "%s: there would be two methods %s", c.Name, m)
		}
		seen[m] = true
	}
}

// field reads the tag of a field.
func (r *reader) field(f *ast.Field, tag string) *field {
	c := &field{Name: f.Names[0].Name, Type: types.ExprString(f.Type), Mode: "counters.Dynamic()"}
	for part := range strings.FieldsSeq(tag) {
		name, value, _ := strings.Cut(part, "=")
		switch name {
		case "group":
			c.Group = true
		case "shards":
			c.Mode = r.mode(f, value)
		case "neutral":
			c.Neutral = value
			e, err := parser.ParseExpr(value)
			if err != nil {
				r.wrong(f, "%s: neutral=%s is not an expression", c.Name, value)
			} else {
				r.uses(e, false)
			}
		case "fold":
			c.Fold = value
		case "update":
			c.Updates = strings.Split(value, ",")
		default:
			r.wrong(f, "%s: unknown word %q in the tag: key, group, neutral=, shards=, fold=, update=", c.Name, part)
		}
	}
	r.uses(f.Type, !c.Group)
	if c.Group {
		return r.group(f, c)
	}
	if c.Fold == "" || len(c.Updates) == 0 {
		r.wrong(f, "%s: the tag needs fold= and update=", c.Name)
		return nil
	}
	r.function(f, c, c.Fold, 2)
	for _, u := range c.Updates {
		r.function(f, c, u, 1)
	}
	return c
}

func (r *reader) mode(n ast.Node, value string) string {
	if value == "adaptive" {
		return "counters.Adaptive(counters.DefaultRule())"
	}
	if shards, err := strconv.Atoi(value); err != nil || shards < 1 || shards > 1024 {
		r.wrong(n, "shards=%s: 1 to 1024, or adaptive", value)
	}
	return "counters.Static(" + value + ")"
}

func (r *reader) group(f *ast.Field, c *field) *field {
	slice, ok := f.Type.(*ast.ArrayType)
	if !ok || slice.Len != nil || c.Fold != "" || c.Updates != nil || c.Neutral != "" {
		r.wrong(f, "%s: a group is a slice, without fold=, update= and neutral=", c.Name)
		return nil
	}
	c.Entry = types.ExprString(slice.Elt)
	return c
}

// function checks that the package has the named function, with n values of the field's type.
func (r *reader) function(f *ast.Field, c *field, name string, values int) {
	sig := r.funcs[name]
	if sig == nil {
		r.wrong(f, "%s: the package has no function %q", c.Name, name)
		return
	}
	got := typesOf(sig.Params)
	if len(got) != values || len(typesOf(sig.Results)) != 1 || slices.ContainsFunc(append(got, typesOf(sig.Results)...), func(t string) bool { return t != c.Type }) {
		r.wrong(f, "%s: %s takes %d of %s and returns one", c.Name, name, values, c.Type)
	}
}

func typesOf(list *ast.FieldList) (out []string) {
	if list == nil {
		return nil
	}
	for _, f := range list.List {
		for range max(1, len(f.Names)) {
			out = append(out, types.ExprString(f.Type))
		}
	}
	return out
}

// uses records the packages named in a type or an expression.
func (r *reader) uses(t ast.Expr, fold bool) {
	ast.Inspect(t, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if pkg, ok := s.X.(*ast.Ident); ok {
				r.used[pkg.Name] = r.used[pkg.Name] || fold
			}
		}
		return true
	})
}

// packageName guesses the name of a package from its import path: the last element that is not a
// major version. A package with another name must be imported under that name.
func packageName(path string) string {
	list := strings.Split(path, "/")
	n := len(list) - 1
	if n > 0 && isMajor(list[n]) {
		n--
	}
	name, suffix, _ := strings.Cut(list[n], ".")
	if isMajor(suffix) { // gopkg.in/yaml.v3
		return name
	}
	return list[n]
}

// isMajor reports whether an element of an import path is a major version. v1 is not, since module
// paths leave it out.
func isMajor(element string) bool {
	number, is := strings.CutPrefix(element, "v")
	major, err := strconv.Atoi(number)
	return is && err == nil && major > 1
}

// imports returns the imports that the types of fields need; if folds is set, only those of fields
// with a fold.
func (r *reader) imports(folds bool) (out []string) {
	for _, spec := range r.file.Imports {
		name, _ := strconv.Unquote(spec.Path.Value) // the parser has accepted it
		local := packageName(name)
		if spec.Name != nil {
			local = spec.Name.Name
		}
		if fold, used := r.used[local]; used && (fold || !folds) && (folds || spec.Name != nil || !slices.Contains(own, name)) {
			line := spec.Path.Value
			if spec.Name != nil {
				line = local + " " + line
			}
			out = append(out, line)
		}
	}
	slices.SortFunc(out, cmp.Compare[string])
	return out
}
