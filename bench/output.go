package bench

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"adshard/bench/measure"
	"adshard/bench/outfile"
)

// output is where a measuring command's report goes.
type output struct{ json string }

func (o *output) flags(c *cobra.Command) {
	c.Flags().StringVar(&o.json, "json", "", "also write the report to this file as JSON")
}

// check refuses a file that cannot be written, before anything is measured.
func (o *output) check(inputs ...string) error {
	return outfile.Check(inputs, outfile.Output{Flag: "--json", Path: o.json})
}

// write shows a report, and writes it to the file if one is named.
func (o *output) write(w io.Writer, r *measure.Report) error {
	fmt.Fprintf(w, "$ %s\ncommit %s; load before: %s\n", r.Command, r.Commit, r.Load)
	if err := r.WriteTable(w); err != nil || o.json == "" {
		return err
	}
	return r.WriteFile(o.json)
}

// newReport begins the report of a subcommand, before it measures: with the
// command line that gives it, without the flags that only say where things are
// put, and with commit and load.
func newReport(name string) *measure.Report {
	words := []string{filepath.Base(os.Args[0])}
	skip := false
	for _, a := range os.Args[1:] {
		flag, _, whole := strings.Cut(a, "=")
		where := slices.Contains([]string{"--json", "--html", "--points", "--work", "--cpuprofile"}, flag)
		if !skip && !where {
			words = append(words, a)
		}
		skip = where && !whole
	}
	return &measure.Report{Name: name, Command: strings.Join(words, " "), Commit: measure.Commit(), Load: measure.Load()}
}
