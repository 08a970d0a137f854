// Command testlog makes the output of `go test -json` readable and keeps a list of what was skipped, over all runs of
// a check:
//
//	go test -json ./... | testlog record RESULTS
//	testlog report RESULTS ALLOWED
//
// record prints what `go test` would print without -json, a line for each package and the output of whatever failed,
// and appends the outcome of each test to the file RESULTS. It exits with 1 if anything failed.
//
// report prints the tests that were skipped, and passed in none of the runs, with their reasons. The file ALLOWED
// lists the tests that a machine may be unable to run; report exits with 3 if others were skipped.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"adshard/internal/outfile"
)

const (
	exitFailed  = 1
	exitUsage   = 2
	exitSkipped = 3
)

var (
	errFailed  = errors.New("tests failed")
	errSkipped = errors.New("tests were skipped that every machine can run")
)

func main() {
	err := run(os.Args[1:], os.Stdin, os.Stdout)
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, "testlog:", err)
	switch {
	case errors.Is(err, errFailed):
		os.Exit(exitFailed)
	case errors.Is(err, errSkipped):
		os.Exit(exitSkipped)
	}
	os.Exit(exitUsage)
}

func run(args []string, in io.Reader, out io.Writer) error {
	switch {
	case len(args) == 2 && args[0] == "record":
		return appendResults(args[1], in, out)
	case len(args) == 3 && args[0] == "report":
		results, err := readResults(args[1])
		if err != nil {
			return err
		}
		allowed, err := readAllowed(args[2])
		if err != nil {
			return err
		}
		return report(out, results, allowed)
	}
	return errors.New("usage: testlog record RESULTS, or testlog report RESULTS ALLOWED")
}

// appendResults appends the results of record to a file, whether tests failed or not.
func appendResults(path string, in io.Reader, out io.Writer) error {
	results, failed := record(in, out)
	f, err := resultsTo(path).Open()
	if err != nil {
		return err
	}
	return errors.Join(failed, writeResults(f, results), f.Close())
}

// resultsTo returns the file of results. It is recognised by the beginning of a result.
func resultsTo(path string) *outfile.Log {
	return &outfile.Log{Output: outfile.Output{Path: path, Kind: outfile.Kind{Name: "a file of results", Is: outfile.Begins("{\"Package\":")}}}
}
