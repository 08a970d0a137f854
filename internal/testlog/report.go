package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

func writeResults(w io.Writer, results []result) error {
	b := bufio.NewWriter(w)
	lines := json.NewEncoder(b)
	for _, r := range results {
		if err := lines.Encode(r); err != nil {
			return err
		}
	}
	return b.Flush()
}

func readResults(path string) ([]result, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var list []result
	for lines := json.NewDecoder(f); ; {
		var r result
		err := lines.Decode(&r)
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		list = append(list, r)
	}
}

// test identifies a test. In the list of what may be skipped it stands for the test and its subtests.
type test struct{ pkg, name string }

// readAllowed reads lines of the form "package test # why". Empty lines and comments are ignored.
func readAllowed(path string) ([]test, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var list []test
	for i, line := range strings.Split(string(text), "\n") {
		line, why, _ := strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if len(words) != 2 || strings.TrimSpace(why) == "" {
			return nil, fmt.Errorf("%s:%d: want \"PACKAGE TEST # WHY\"", path, i+1)
		}
		list = append(list, test{words[0], words[1]})
	}
	return list, nil
}

// report prints the tests that were skipped in every run in which they occurred, first those that the list allows. It
// returns errSkipped if there are others, or an error if the list names an unknown test.
func report(out io.Writer, results []result, allowed []test) error {
	skipped := make(map[test]string)
	for _, r := range results {
		if r.Skipped {
			skipped[test{r.Package, r.Test}] = r.Reason
		}
	}
	for _, r := range results {
		if !r.Skipped {
			delete(skipped, test{r.Package, r.Test})
		}
	}
	var fine, others []string
	for t, reason := range skipped {
		line := fmt.Sprintf("  %s %s: %s\n", t.pkg, t.name, reason)
		if slices.ContainsFunc(allowed, t.within) {
			fine = append(fine, line)
		} else {
			others = append(others, line)
		}
	}
	slices.Sort(fine)
	slices.Sort(others)
	section := func(title string, lines []string) {
		fmt.Fprintf(out, "%s: %d\n%s", title, len(lines), strings.Join(lines, ""))
	}
	section("skipped, which this machine cannot run", fine)
	section("skipped, which every machine can run", others)
	if len(others) > 0 {
		return errSkipped
	}
	for _, a := range allowed {
		if !slices.ContainsFunc(results, func(r result) bool { return test{r.Package, r.Test}.within(a) }) {
			return fmt.Errorf("%s %s may be skipped, but there is no such test", a.pkg, a.name)
		}
	}
	return nil
}

// within reports whether t is the allowed test or a subtest of it.
func (t test) within(allowed test) bool {
	return t.pkg == allowed.pkg && (t.name == allowed.name || strings.HasPrefix(t.name, allowed.name+"/"))
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
