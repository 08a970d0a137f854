package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// event is a line of `go test -json`; see `go doc test2json` and `go help buildjson`.
type event struct {
	Action  string
	Package string
	Test    string
	Output  string
	Elapsed float64 // seconds
}

// result is the outcome of one test in one run.
type result struct {
	Package string
	Test    string
	Skipped bool
	Reason  string `json:",omitempty"`
}

// recorder keeps the output of each test until it has ended.
type recorder struct {
	out     io.Writer
	tests   map[string]map[string]*strings.Builder // by package and test; "" has the package's own output
	results []result
	failed  bool
}

// record prints the relevant parts of `go test -json` and returns the tests that passed or were skipped. The error is
// errFailed or an error from reading.
func record(in io.Reader, out io.Writer) ([]result, error) {
	r := recorder{out: out, tests: make(map[string]map[string]*strings.Builder)}
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			r.line(line)
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return r.results, err
		}
	}
	for _, pkg := range sortedKeys(r.tests) { // ended without a final event
		r.failed = true
		r.dump(pkg)
		fmt.Fprintf(r.out, "FAIL\t%s\tended without a result\n", pkg)
	}
	if r.failed {
		return r.results, errFailed
	}
	return r.results, nil
}

func (r *recorder) line(line string) {
	var e event
	if !strings.HasPrefix(line, "{") || json.Unmarshal([]byte(line), &e) != nil || e.Action == "" {
		fmt.Fprint(r.out, line) // written by the go tool itself
		return
	}
	switch e.Action {
	case "build-output":
		fmt.Fprint(r.out, e.Output)
	case "build-fail":
		r.failed = true
	case "output":
		r.buffer(e.Package, e.Test).WriteString(e.Output)
	case "pass", "skip", "fail":
		if e.Test == "" {
			r.packageEnds(e)
		} else {
			r.testEnds(e)
		}
	}
}

func (r *recorder) buffer(pkg, test string) *strings.Builder {
	tests := r.tests[pkg]
	if tests == nil {
		tests = make(map[string]*strings.Builder)
		r.tests[pkg] = tests
	}
	if tests[test] == nil {
		tests[test] = new(strings.Builder)
	}
	return tests[test]
}

// testEnds drops the output of a test that did not fail. The output of a failed test is printed when its package
// ends.
func (r *recorder) testEnds(e event) {
	switch e.Action {
	case "fail":
		r.failed = true
		return
	case "skip":
		r.results = append(r.results, result{e.Package, e.Test, true, reason(r.buffer(e.Package, e.Test).String())})
	case "pass":
		r.results = append(r.results, result{Package: e.Package, Test: e.Test})
	}
	delete(r.tests[e.Package], e.Test)
}

func (r *recorder) packageEnds(e event) {
	switch {
	case e.Action == "fail":
		r.failed = true
		r.dump(e.Package) // ends with the line FAIL
	case e.Action == "pass":
		fmt.Fprintf(r.out, "ok\t%s\t%.1fs\n", e.Package, e.Elapsed)
	}
	delete(r.tests, e.Package)
}

// dump prints the output of all tests of a package that failed or never ended, and what the package itself printed: a
// test that was ended by a panic or a time limit has no final event.
func (r *recorder) dump(pkg string) {
	tests := r.tests[pkg]
	for _, test := range sortedKeys(tests) {
		if test != "" {
			fmt.Fprint(r.out, tests[test])
		}
	}
	if own := tests[""]; own != nil {
		fmt.Fprint(r.out, own)
	}
}

// reason returns the reason that a skipped test gave, in one line.
func reason(output string) string {
	var said []string
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "=== ") && !strings.HasPrefix(line, "--- ") {
			said = append(said, line)
		}
	}
	return strings.Join(said, " ")
}
