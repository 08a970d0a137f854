// Package page makes the HTML pages of adbench, which all have a verdict, then charts and
// tables, and the commands that measured them with commit, machine and load. A page is
// self-contained: no network, no script.
//
// Goals: legible on a phone and in the dark; the same look for all. Non-goals: anything
// interactive.
package page

import (
	_ "embed"
	"html/template"
	"io"
	"math"
	"strings"

	"adshard/bench/measure"
)

//go:embed page.html
var text string

// Page is one page.
type Page struct {
	// Title distinguishes this page from all others.
	Title string
	// Lead says what was compared, Verdict what was found, one sentence per line.
	Lead    string
	Verdict []string
	// Made says how the figures were made.
	Made     []Made
	Notes    []string
	Sections []Section
	Terms    []Term
	Details  []Detail
}

// Made is a command with the circumstances of its run.
type Made struct {
	Command string
	// Commit is the commit of the program, as from measure.Commit. Packages are the directories of
	// the repository whose changes make the figures outdated.
	Commit   string
	Packages []string
	// About gives the date, the machine and the like.
	About []string
}

// Mark returns the mark that `adbench figures-age` reads.
func (m *Made) Mark() string { return Mark(m.Commit, m.Packages) }

// Section is a part of the page under a heading.
type Section struct {
	Title, Note string
	Charts      []template.HTML
	Tables      []*Table
}

// Term is a word of the page with its meaning.
type Term struct{ Word, Means string }

// Detail is a list of lines that the page shows on demand.
type Detail struct {
	Title string
	Lines []string
}

// Table is a table of rows under a header, in groups.
type Table struct {
	Title, Note string
	Header      []string
	Groups      []Group
}

// Group is a set of rows that are compared with each other, under a name unless it is "".
type Group struct {
	Name string
	Rows [][]Cell
}

// Cell is a number or a word in a table. Best and Bad cells are marked.
type Cell struct {
	Text      string
	Best, Bad bool
}

// Cells makes cells from texts.
func Cells(texts ...string) []Cell {
	out := make([]Cell, len(texts))
	for i, t := range texts {
		out[i].Text = t
	}
	return out
}

// Chart converts the SVG of package chart, which escapes its texts.
func Chart(svg string) template.HTML { return template.HTML(svg) }

// Write writes the page.
func (p *Page) Write(w io.Writer) error {
	t, err := template.New("page").Parse(text)
	if err != nil {
		return err
	}
	return t.Execute(w, p)
}

// Best reports for each value whether it is the best: the smallest, or the largest if `most` is
// set. A missing value (NaN) is never the best, nor is the only value, nor one of several that
// look the same.
func Best(values []float64, most bool) []bool {
	best, known, shared := math.NaN(), 0, 0
	for _, v := range values {
		if math.IsNaN(v) {
			continue
		}
		if known == 0 || most && v > best || !most && v < best {
			best = v
		}
		known++
	}
	out := make([]bool, len(values))
	for i, v := range values {
		out[i] = known > 1 && v == best
		if !math.IsNaN(v) && measure.Number(v) == measure.Number(best) {
			shared++
		}
	}
	if shared > 1 {
		clear(out)
	}
	return out
}

// MarkBest marks the best cells of a column; values holds one value for each row.
func MarkBest(rows [][]Cell, column int, values []float64, most bool) {
	for i, best := range Best(values, most) {
		rows[i][column].Best = best
	}
}

// Mark returns the text with which a page says which commit and packages it measured.
func Mark(commit string, packages []string) string {
	return "commit " + commit + "; packages " + strings.Join(packages, " ")
}
