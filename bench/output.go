package bench

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"adshard/bench/measure"
	"adshard/internal/outfile"
)

// output says where a measuring command's report goes.
type output struct{ name, json string }

func (o *output) flags(c *cobra.Command) {
	o.name = c.Name()
	c.Flags().StringVar(&o.json, "json", "", "also write the report to this file as JSON")
}

// check returns an error, before anything is measured, if the file cannot be written.
func (o *output) check(inputs ...string) error {
	return outfile.Check(outfile.Inputs(inputs...), jsonOf(o.name, o.json))
}

// write shows a report, and writes it to the file if one is named.
func (o *output) write(w io.Writer, r *measure.Report) error {
	fmt.Fprintf(w, "$ %s\ncommit %s; load before: %s\n", r.Command, r.Commit, r.Load)
	if err := r.WriteTable(w); err != nil || o.json == "" {
		return err
	}
	return r.WriteFile(o.json)
}

// newReport begins the report of a subcommand, before it measures. The report has the command
// line that makes it, except flags that only say where to put things, and the commit and the
// load.
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

// reportOf returns how to recognise reports of a subcommand: by the name in them, or by the
// command line.
func reportOf(command string) outfile.Kind {
	line := regexp.MustCompile(`^\{\n "name": "` + regexp.QuoteMeta(command) + `"|"command": "\S+ ` + regexp.QuoteMeta(command) + `[ "]`)
	return outfile.Kind{Name: "a report of this command", Is: func(r io.Reader) bool {
		head, err := io.ReadAll(io.LimitReader(r, 64<<10))
		return err == nil && bytes.HasPrefix(head, []byte("{\n \"")) && line.Match(head)
	}}
}

// jsonOf returns the output for the report of a subcommand.
func jsonOf(command, path string) outfile.Output {
	return outfile.Output{Flag: "--json", Path: path, Kind: reportOf(command)}
}

// pageTo returns the output for a page with charts.
func pageTo(path string) outfile.Output {
	return outfile.Output{Flag: "--html", Path: path,
		Kind: outfile.Kind{Name: "a page of adbench", Is: outfile.Begins("<!DOCTYPE html>\n<html lang=\"en\" xmlns=")}}
}

// writePage writes a page with charts, unless path is "".
func writePage(path string, write func(io.Writer) error) error {
	if path == "" {
		return nil
	}
	return pageTo(path).Write(write)
}
