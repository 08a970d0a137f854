package source

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// Layers is the order of packages in docs/architecture.md's table, from the bottom up.
type Layers struct {
	rows map[string]int // by package
}

// Arrow is an import from one package to another, by their paths in the
// checkout.
type Arrow struct{ From, To string }

var code = regexp.MustCompile("`([^`]+)`")

// ReadLayers reads the table from a page in Markdown: the first table whose heading begins with "package". The first
// cell of a row names packages in code spans. A name that does not exist by itself is relative to the row's first
// name.
func (t *Tree) ReadLayers(page io.Reader) (*Layers, error) {
	l := &Layers{rows: make(map[string]int)}
	lines := bufio.NewScanner(page)
	in := false
	for row := 0; lines.Scan(); row++ {
		cells := strings.Split(lines.Text(), "|")
		switch {
		case len(cells) < 3 && in:
			return l, nil
		case len(cells) < 3:
		case !in:
			in = strings.TrimSpace(cells[1]) == "package"
		default:
			names := code.FindAllStringSubmatch(cells[1], -1)
			for _, m := range names {
				pkg := t.named(m[1], names[0][1])
				if _, twice := l.rows[pkg]; twice {
					return nil, fmt.Errorf("the table of packages has two rows for %s", pkg)
				}
				l.rows[pkg] = row
			}
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read the table of packages: %w", err)
	}
	if !in {
		return nil, fmt.Errorf(`the page has no table whose heading begins with "package"`)
	}
	return l, nil
}

func (t *Tree) named(name, first string) string {
	exists := func(p *Package) bool { return Under(p.Path, name) }
	if slices.ContainsFunc(t.Packages, exists) {
		return name
	}
	return first + "/" + name
}

// Row returns the row of a package, or of the nearest package above it that has a row. ok is false if there is none.
func (l *Layers) Row(pkg string) (row int, ok bool) {
	for at := pkg; ; {
		if row, ok = l.rows[at]; ok {
			return row, true
		}
		i := strings.LastIndexByte(at, '/')
		if i < 0 {
			return 0, false
		}
		at = at[:i]
	}
}

// Against reports whether an arrow goes from a lower row of the table to a
// higher one. Packages without a row are not compared.
func (l *Layers) Against(a Arrow) bool {
	from, known := l.Row(a.From)
	to, also := l.Row(a.To)
	return known && also && from < to
}

// Unplaced returns the packages that have no row.
func (l *Layers) Unplaced(t *Tree) (out []string) {
	for _, p := range t.Packages {
		if _, ok := l.Row(p.Path); !ok {
			out = append(out, p.Path)
		}
	}
	return out
}

// Upward returns the imports in production files from a lower row to a higher one, sorted. Packages that support
// tests may use higher rows.
func (l *Layers) Upward(t *Tree) (out []Arrow) {
	for _, p := range t.Packages {
		if TestSupport(p.Path) {
			continue
		}
		for _, imported := range Imports(p.Production()) {
			to, ours := strings.CutPrefix(imported, Module+"/")
			if a := (Arrow{p.Path, to}); ours && l.Against(a) {
				out = append(out, a)
			}
		}
	}
	return out
}
