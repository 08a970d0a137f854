// Package claims compares what a paper says with what its experiment shows here.
//
// Goals: the paper's number beside the one measured here, with a verdict and, where
// they differ, the reason. Non-goals: deciding what a paper means (the packages that
// repeat its experiments do).
package claims

import (
	"fmt"

	"adshard/bench/measure"
	"adshard/bench/page"
)

// Claim is one finding of a paper beside the same finding here.
type Claim struct {
	// Where is the figure or section. Paper says what the paper found, Ours what was
	// found here.
	Where, Paper, Ours string
	Holds              bool
	// Untested says why the experiment does not decide the claim; Holds then means
	// nothing.
	Untested string
	// Because says why the claim does not hold, if it does not. Remark says what else
	// matters in either case.
	Because, Remark string
}

// Verdict returns "reproduced", "contradicted" or "not tested", with the reason.
func (c *Claim) Verdict() string {
	if c.Untested != "" {
		return joined("not tested: "+c.Untested, c.Remark)
	}
	if c.Holds {
		return joined("reproduced", c.Remark)
	}
	because := "contradicted"
	if c.Because != "" {
		because += ", because " + c.Because
	}
	return joined(because, c.Remark)
}

func joined(a, b string) string {
	if b == "" {
		return a
	}
	return a + "; " + b
}

// Table returns the claims as a table of a page.
func Table(list []Claim) *page.Table {
	var rows [][]page.Cell
	for i := range list {
		c := &list[i]
		cells := page.Cells(c.Where, c.Paper, c.Ours, c.Verdict())
		cells[3].Bad, cells[3].Best = !c.Holds && c.Untested == "", c.Holds && c.Untested == ""
		rows = append(rows, cells)
	}
	return &page.Table{Header: []string{"figure", "the paper", "here", "verdict"}, Groups: []page.Group{{Rows: rows}}}
}

// Lines returns a line for each claim, for the verdict of a page.
func Lines(list []Claim) (out []string) {
	for i := range list {
		out = append(out, fmt.Sprintf("%s: %s. Here: %s. %s.", list[i].Where, list[i].Paper, list[i].Ours, upper(list[i].Verdict())))
	}
	return out
}

// Note adds the claims to a report.
func Note(r *measure.Report, list []Claim) {
	for _, l := range Lines(list) {
		r.Note("%s", l)
	}
}

func upper(s string) string { return string(s[0]-'a'+'A') + s[1:] }
