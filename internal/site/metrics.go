package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// metric is one that a process may show. Many are there only once there is a shard, an error or a
// certificate, so they are read from where the sources declare them, and not from a running process.
type metric struct{ name, kind, help string }

// metricName is the name of a metric, metricPrefix what a file puts before shorter names.
var (
	metricName   = regexp.MustCompile(`^adshard_[a-z0-9_]*[a-z0-9]$`)
	metricPrefix = regexp.MustCompile(`^adshard_[a-z0-9_]*_$`)
	shortName    = regexp.MustCompile(`^[a-z0-9_]*[a-z0-9]$`)
)

// metricsPage has the name, type and help of each metric.
func (s *site) metricsPage() (string, error) {
	list, err := declaredMetrics(filepath.Join(s.root, "internal", "node"))
	if err != nil {
		return "", err
	}
	var text strings.Builder
	text.WriteString("# Metrics\n\nAll metrics of all programs, as `/metrics` of the admin ports has them; beside them are those of Go's runtime and of the process.\n" +
		"[Running a cluster](../operations.md#metrics) says where each one is, what it means and which to watch.\n\n| metric | type | help |\n| --- | --- | --- |\n")
	for _, m := range list {
		fmt.Fprintf(&text, "| `%s` | %s | %s |\n", m.name, m.kind, cell(m.help))
	}
	return text.String(), nil
}

// declaredMetrics reads the declarations in the sources below a directory: a name and a help, side by side or
// as the fields Name and Help.
func declaredMetrics(dir string) ([]metric, error) {
	found := make(map[string]metric)
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil, 0)
		if err != nil {
			return err
		}
		for _, m := range metricsOf(file) {
			if before, twice := found[m.name]; !twice || before.kind == "gauge" {
				found[m.name] = m
			}
		}
		return nil
	})
	list := make([]metric, 0, len(found))
	for _, m := range found {
		list = append(list, m)
	}
	slices.SortFunc(list, func(a, b metric) int { return cmp.Compare(a.name, b.name) })
	return list, err
}

func metricsOf(file *ast.File) (list []metric) {
	prefix := ""
	ast.Inspect(file, func(n ast.Node) bool {
		if sum, ok := n.(*ast.BinaryExpr); ok && metricPrefix.MatchString(literal(sum.X)) {
			prefix = literal(sum.X)
		}
		return true
	})
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			list = append(list, sideBySide(prefix, n.Args)...)
		case *ast.ValueSpec:
			list = append(list, sideBySide(prefix, n.Values)...)
		case *ast.CompositeLit:
			list = append(list, fields(n)...)
		}
		return true
	})
	return list
}

// sideBySide finds a name that is followed by a help, which is a sentence.
func sideBySide(prefix string, list []ast.Expr) []metric {
	for i := range max(0, len(list)-1) {
		name, help := literal(list[i]), literal(list[i+1])
		if !strings.HasSuffix(help, ".") {
			continue // two other texts
		}
		if prefix != "" && shortName.MatchString(name) && !metricName.MatchString(name) {
			name = prefix + name
		}
		if metricName.MatchString(name) {
			return []metric{{name, kindOf("", name), help}}
		}
	}
	return nil
}

// fields finds the options of a metric.
func fields(c *ast.CompositeLit) []metric {
	var m metric
	for _, e := range c.Elts {
		pair, ok := e.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		switch key, _ := pair.Key.(*ast.Ident); {
		case key == nil:
		case key.Name == "Name":
			m.name = literal(pair.Value)
		case key.Name == "Help":
			m.help = literal(pair.Value)
		}
	}
	of, _ := c.Type.(*ast.SelectorExpr)
	if of == nil || !metricName.MatchString(m.name) {
		return nil
	}
	m.kind = kindOf(of.Sel.Name, m.name)
	return []metric{m}
}

// kindOf is the type of a metric: a count ends with _total, and nothing else does (TestMetrics of internal/e2e).
func kindOf(options, name string) string {
	switch {
	case options == "HistogramOpts":
		return "histogram"
	case strings.HasSuffix(name, "_total"):
		return "counter"
	}
	return "gauge"
}

// literal is the value of a string literal; "": it is none.
func literal(e ast.Expr) string {
	l, ok := e.(*ast.BasicLit)
	if !ok || l.Kind != token.STRING {
		return ""
	}
	text, _ := strconv.Unquote(l.Value)
	return text
}

// cell is text as a cell of a table.
func cell(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", `\|`)
}
