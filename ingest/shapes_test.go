package ingest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"adshard/ingest"
)

// TestShapes imports the files of testdata/shapes, which follow what public tools and reports write, and compares the
// summary and the entities afterwards. The arguments utf16 and latin1 encode the file; the argument advertiser names one.
// `go test -run TestShapes -rewrite` rewrites the expectations.
func TestShapes(t *testing.T) {
	datadriven.Walk(t, "testdata/shapes", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			file := d.Input + "\n"
			if d.HasArg("utf16") {
				file = string(utf16(file))
			}
			if d.HasArg("latin1") {
				file = latin1(file)
			}
			o := ingest.Options{Stdin: strings.NewReader(file)}
			if d.HasArg("advertiser") {
				d.ScanArgs(t, "advertiser", &o.Advertiser)
			}
			return shape(o)
		})
	})
}

// shape imports a file and describes the result.
func shape(o ingest.Options) string {
	var b, rejects strings.Builder
	o.Rejects = &rejects
	store := newFakeStore()
	sum, err := ingest.Run(context.Background(), store, []string{"-"}, o)
	if err != nil {
		fmt.Fprintf(&b, "error: %v\n", err)
	}
	fmt.Fprintf(&b, "rows %d, rejected %d\n", sum.Rows, sum.Rejected)
	for line := range strings.Lines(rejects.String()) {
		b.WriteString("rejected: " + strings.ReplaceAll(strings.TrimPrefix(line, "-\t"), "\t", " | "))
	}
	for _, s := range sum.Skipped {
		fmt.Fprintf(&b, "skipped: %s %d\n", s.Kind, s.Rows)
	}
	for _, u := range sum.Unused {
		fmt.Fprintf(&b, "unused: %s %s %d %s\n", u.Column, u.Of, u.Rows, u.Meant)
	}
	for _, n := range sum.Notes {
		fmt.Fprintf(&b, "note: %s %d %s\n", n.Kind, n.Count, strings.Join(n.First, "; "))
	}
	for _, w := range sum.FirstWarnings {
		fmt.Fprintf(&b, "warning: %v\n", w)
	}
	for _, w := range sum.Wider {
		fmt.Fprintf(&b, "wider: %v\n", &w)
	}
	var lines []string
	for line := range strings.Lines(b.String() + store.dump()) {
		lines = append(lines, strings.TrimRight(line, " \n"))
	}
	return strings.Join(lines, "\n") + "\n"
}

// latin1 encodes characters up to U+00FF as one byte each.
func latin1(text string) string {
	var b []byte
	for _, r := range text {
		b = append(b, byte(r))
	}
	return string(b)
}
