package figures

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"adshard/bench/measure"
)

// Reports holds reports by group; a group is the runs of one command.
type Reports map[string][]*measure.Report

// Read reads the reports in a directory, GROUP.json or GROUP.N.json.
func Read(dir string) (Reports, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("there is no report in %s", dir)
	}
	slices.Sort(names)
	all := make(Reports)
	for _, name := range names {
		r, err := measure.ReadFile(name)
		if err != nil {
			return nil, err
		}
		group, _, _ := strings.Cut(filepath.Base(name), ".")
		all[group] = append(all[group], r)
	}
	return all, nil
}

// Write writes the table and, below it, the command of each group. It returns
// the number of missed targets.
func (all Reports) Write(w io.Writer) (missed int, err error) {
	var b strings.Builder
	b.WriteString("| what | median | least to most | target | |\n| --- | ---: | ---: | ---: | --- |\n")
	var groups []string
	for _, l := range lines {
		values := all.values(l)
		if len(values) == 0 {
			continue
		}
		if !slices.Contains(groups, l.group) {
			groups = append(groups, l.group)
		}
		if !l.write(&b, values) {
			missed++
		}
	}
	b.WriteString("\n| figures of | command | runs |\n| --- | --- | ---: |\n")
	for _, g := range groups {
		fmt.Fprintf(&b, "| %s | `%s` | %d |\n", g, all[g][0].Command, len(all[g]))
	}
	_, err = io.WriteString(w, b.String())
	return missed, err
}

// Commits returns the commits of all reports, each once.
func (all Reports) Commits() []string {
	var every []*measure.Report
	for _, reports := range all {
		every = append(every, reports...)
	}
	return commits(every)
}

func commits(reports []*measure.Report) (out []string) {
	for _, r := range reports {
		out = append(out, known(r.Commit))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// known returns s, or measure.Unknown if s is empty.
func known(s string) string {
	if s == "" {
		return measure.Unknown
	}
	return s
}

// values returns a line's figures in all its reports. A single report with
// several rounds also counts with its extremes.
func (all Reports) values(l line) (values []measure.Figure) {
	for _, r := range all[l.group] {
		if f, ok := r.Find(l.figure); ok {
			values = append(values, f)
		}
	}
	return values
}

// write writes one line and returns false if it misses its target.
func (l *line) write(b *strings.Builder, values []measure.Figure) bool {
	scale := l.scale
	if scale == 0 {
		scale = 1
	}
	var all, extremes []float64
	for _, f := range values {
		all = append(all, f.Value*scale)
		extremes = append(extremes, f.Value*scale)
		if f.Least != nil && f.Most != nil {
			extremes = append(extremes, *f.Least*scale, *f.Most*scale)
		}
	}
	_, median, _ := measure.Rounds(all)
	least, _, most := measure.Rounds(extremes)
	spread := ""
	if len(extremes) > 1 {
		spread = measure.Number(least) + " to " + measure.Number(most)
	}
	target, verdict, ok := l.judge(median)
	fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", l.what, strings.TrimSpace(measure.Number(median)+" "+l.unit), spread, target, verdict)
	return ok
}

// judge compares a figure with its target.
func (l *line) judge(v float64) (target, verdict string, ok bool) {
	switch {
	case l.atLeast > 0:
		target, ok = "≥ "+measure.Number(l.atLeast), v >= l.atLeast
	case l.atMost > 0:
		target, ok = "≤ "+measure.Number(l.atMost), v <= l.atMost
	default:
		return "", "", true
	}
	if ok {
		return target, "met", true
	}
	return target, "**missed**", false
}
