package mutation

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// chosen is the environment variable that names the mutation in force. Its name does not begin with ADSHARD_, since
// processes that `adshard up` starts do not get such variables.
const chosen = "MUTATION_CHOSEN"

// switchFile returns the file that is added to a package with woven mutations.
func switchFile(name string) string {
	return "package " + name + "\n\nimport \"os\"\n\nvar mutationChosen = os.Getenv(\"" + chosen + "\")\n"
}

// woven is a source file with all of its mutations in it, of which the chosen one is in force: building them one by
// one took most of the time.
type woven struct {
	name   string // name of the package
	source string
	of     map[string][]string // mutations by function, which is given by its text
	bodies map[string]string   // mutated functions by mutation
}

// weave adds a mutation, unless it changes more than the body of one function, and reports whether it did.
func (w *woven) weave(mutation, before, after string) (ok bool) {
	fset := token.NewFileSet()
	old, err := parser.ParseFile(fset, "", w.source, 0)
	if err != nil {
		return false
	}
	text := strings.Replace(w.source, before, after, 1)
	mutated, err := parser.ParseFile(fset, "", text, 0)
	if err != nil || len(mutated.Decls) != len(old.Decls) {
		return false
	}
	w.name = old.Name.Name
	var from, to *ast.FuncDecl
	for i := range old.Decls {
		if source(fset, w.source, old.Decls[i]) == source(fset, text, mutated.Decls[i]) {
			continue
		}
		a, isFunc := old.Decls[i].(*ast.FuncDecl)
		b, same := mutated.Decls[i].(*ast.FuncDecl)
		if !isFunc || !same || from != nil || signature(fset, w.source, a) != signature(fset, text, b) {
			return false
		}
		from, to = a, b
	}
	if from == nil {
		return false
	}
	key := source(fset, w.source, from)
	w.of[key] = append(w.of[key], mutation)
	w.bodies[mutation] = renamed(fset, text, to, w.versionOf(from, mutation))
	return true
}

// versionOf returns the name of a mutated version of a function.
func (w *woven) versionOf(f *ast.FuncDecl, mutation string) string {
	return f.Name.Name + "_" + strings.NewReplacer("/", "_", "-", "_").Replace(mutation)
}

// text returns the file with all mutations. Each function with mutations is replaced by one that calls the chosen
// version.
func (w *woven) text(t *testing.T) string {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", w.source, 0)
	if err != nil {
		t.Fatal(err)
	}
	text, added := w.source, ""
	for _, d := range slices.Backward(file.Decls) {
		mutations := w.of[source(fset, w.source, d)]
		if mutations == nil {
			continue
		}
		f := d.(*ast.FuncDecl)
		kept := f.Name.Name + "_kept"
		name := fset.Position(f.Name.Pos()).Offset
		text = text[:name] + kept + text[name+len(f.Name.Name):]
		added += w.dispatch(fset, f, kept, mutations)
		for _, m := range mutations {
			added += w.bodies[m] + "\n\n"
		}
	}
	return text + "\n" + added
}

// dispatch returns a function that calls the chosen version of f.
func (w *woven) dispatch(fset *token.FileSet, f *ast.FuncDecl, kept string, mutations []string) string {
	of := func(n ast.Node) string { return source(fset, w.source, n) }
	receiver, callee, types, arguments := "", "", "", ""
	if f.Recv != nil {
		receiver, callee = "(its "+of(f.Recv.List[0].Type)+") ", "its."
	}
	if f.Type.TypeParams != nil {
		var names []string
		for _, p := range f.Type.TypeParams.List {
			for _, n := range p.Names {
				names = append(names, n.Name)
			}
		}
		types, arguments = of(f.Type.TypeParams), "["+strings.Join(names, ", ")+"]"
	}
	var parameters, given []string
	for _, p := range f.Type.Params.List {
		for range max(1, len(p.Names)) {
			n := fmt.Sprint("argument", len(given))
			parameters = append(parameters, n+" "+of(p.Type))
			if _, variadic := p.Type.(*ast.Ellipsis); variadic {
				n += "..."
			}
			given = append(given, n)
		}
	}
	results, call := "", func(version string) string {
		return callee + version + arguments + "(" + strings.Join(given, ", ") + ")\n"
	}
	if r := f.Type.Results; r != nil && len(r.List) > 0 {
		plain := call
		results, call = of(r), func(version string) string { return "return " + plain(version) }
	}
	var b strings.Builder
	fmt.Fprintf(&b, "func %s%s%s(%s) %s {\n", receiver, f.Name.Name, types, strings.Join(parameters, ", "), results)
	for _, m := range mutations {
		fmt.Fprintf(&b, "if mutationChosen == %q {\n%sreturn\n}\n", m, call(w.versionOf(f, m)))
	}
	text := b.String() + call(kept) + "}\n\n"
	if results != "" {
		text = strings.ReplaceAll(text, "\nreturn\n}", "\n}") // the call already returns
	}
	return text
}

// source returns the text of a node.
func source(fset *token.FileSet, text string, n ast.Node) string {
	return text[fset.Position(n.Pos()).Offset:fset.Position(n.End()).Offset]
}

// signature returns the text of a function up to its body, or "" if it has no body.
func signature(fset *token.FileSet, text string, f *ast.FuncDecl) string {
	if f.Body == nil {
		return ""
	}
	return text[fset.Position(f.Pos()).Offset:fset.Position(f.Body.Lbrace).Offset]
}

// renamed returns the text of a function under another name.
func renamed(fset *token.FileSet, text string, f *ast.FuncDecl, name string) string {
	all, from := source(fset, text, f), fset.Position(f.Name.Pos()).Offset-fset.Position(f.Pos()).Offset
	return all[:from] + name + all[from+len(f.Name.Name):]
}
