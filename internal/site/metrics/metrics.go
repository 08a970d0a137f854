// Package metrics finds out which metrics the programs may show, by reading their declarations in the sources. Many
// metrics appear only once there is a shard, an error or a certificate, so no running process shows all of them.
package metrics

import (
	"cmp"
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

// Metric is a metric that a process may show. Kind is counter, gauge or histogram, and Help is a sentence.
type Metric struct{ Name, Kind, Help string }

// metricName matches the name of a metric, and metricPrefix a prefix that a file adds to shorter names.
var (
	metricName   = regexp.MustCompile(`^adshard_[a-z0-9_]*[a-z0-9]$`)
	metricPrefix = regexp.MustCompile(`^adshard_[a-z0-9_]*_$`)
	shortName    = regexp.MustCompile(`^[a-z0-9_]*[a-z0-9]$`)
)

// Declared returns the metrics that are declared in the sources below a directory, by name. A declaration is a name
// and a help, next to each other or as the fields Name and Help. Errors are those of reading and parsing files.
func Declared(dir string) ([]Metric, error) {
	found := make(map[string]Metric)
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil, 0)
		if err != nil {
			return err
		}
		for _, m := range metricsOf(file) {
			if before, twice := found[m.Name]; !twice || before.Kind == "gauge" {
				found[m.Name] = m
			}
		}
		return nil
	})
	list := make([]Metric, 0, len(found))
	for _, m := range found {
		list = append(list, m)
	}
	slices.SortFunc(list, func(a, b Metric) int { return cmp.Compare(a.Name, b.Name) })
	return list, err
}

func metricsOf(file *ast.File) (list []Metric) {
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

// sideBySide finds a name followed by a help text, which is a sentence.
func sideBySide(prefix string, list []ast.Expr) []Metric {
	for i := range max(0, len(list)-1) {
		name, help := literal(list[i]), literal(list[i+1])
		if !strings.HasSuffix(help, ".") {
			continue // two other texts
		}
		if prefix != "" && shortName.MatchString(name) && !metricName.MatchString(name) {
			name = prefix + name
		}
		if metricName.MatchString(name) {
			return []Metric{{name, kindOf("", name), help}}
		}
	}
	return nil
}

// fields finds the name and help in the options of a metric.
func fields(c *ast.CompositeLit) []Metric {
	var m Metric
	for _, e := range c.Elts {
		pair, ok := e.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		switch key, _ := pair.Key.(*ast.Ident); {
		case key == nil:
		case key.Name == "Name":
			m.Name = literal(pair.Value)
		case key.Name == "Help":
			m.Help = literal(pair.Value)
		}
	}
	of, _ := c.Type.(*ast.SelectorExpr)
	if of == nil || !metricName.MatchString(m.Name) {
		return nil
	}
	m.Kind = kindOf(of.Sel.Name, m.Name)
	return []Metric{m}
}

// kindOf returns the type of a metric. The names of counts end with _total, and no others do (TestMetrics of
// internal/e2e).
func kindOf(options, name string) string {
	switch {
	case options == "HistogramOpts":
		return "histogram"
	case strings.HasSuffix(name, "_total"):
		return "counter"
	}
	return "gauge"
}

// literal returns the value of a string literal, or "" if the expression is none.
func literal(e ast.Expr) string {
	l, ok := e.(*ast.BasicLit)
	if !ok || l.Kind != token.STRING {
		return ""
	}
	text, _ := strconv.Unquote(l.Value)
	return text
}
