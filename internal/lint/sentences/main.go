// Command sentences draws sentences from the product's comments and pages, so that a reader can judge whether they
// are plain (docs/research/newcomers.md):
//
//	go run ./internal/lint/sentences [tests] SEED [DIRECTORY or FILE ...]
//
// It draws 40 sentences: with `tests` only from comments of tests, otherwise from pages and from all other comments.
// It leaves out generated code, and the module bench unless a path leads there. The same seed draws the same
// sentences from the same files.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

const (
	drawn       = 40
	fewestWords = 7
)

var (
	sentenceEnd = regexp.MustCompile(`([.!?])\s+`)
	notProse    = regexp.MustCompile("(?ms)^```.*?^```|^    [^\n]*$|^[|#<][^\n]*$|^(//)?go:[^\n]*$")
	listItem    = regexp.MustCompile(`(?m)^\s*(?:[-*]|\d+\.) `)
)

func main() {
	args := os.Args[1:]
	tests := len(args) > 0 && args[0] == "tests"
	if tests {
		args = args[1:]
	}
	if err := run(args, tests); err != nil {
		fmt.Fprintln(os.Stderr, "sentences:", err)
		os.Exit(1)
	}
}

func run(args []string, tests bool) error {
	if len(args) == 0 {
		return errors.New("usage: sentences [tests] SEED [DIRECTORY or FILE ...]")
	}
	seed, err := strconv.ParseUint(args[0], 10, 64)
	if err != nil {
		return err
	}
	roots := args[1:]
	if len(roots) == 0 {
		roots = []string{"."}
	}
	var all []string
	for _, root := range roots {
		err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() {
				if name != root && (d.Name() == "bench" || d.Name() == "testdata" || d.Name()[0] == '.') {
					return fs.SkipDir
				}
				return nil
			}
			found, err := sentences(name, tests)
			all = append(all, found...)
			return err
		})
		if err != nil {
			return err
		}
	}
	fmt.Printf("%d of %d sentences, seed %d\n", min(drawn, len(all)), len(all), seed)
	draw := rand.New(rand.NewPCG(seed, 0)) // so that the draw can be repeated
	for i, at := range draw.Perm(len(all))[:min(drawn, len(all))] {
		fmt.Printf("%d. %s\n", i+1, all[at])
	}
	return nil
}

// sentences returns the sentences of a page, or of the comments of a Go file, each after the file's name. It returns
// none for other files and for generated code. With `tests` it returns only those of tests, and otherwise all others.
func sentences(name string, tests bool) (list []string, err error) {
	var paragraphs []string
	switch {
	case strings.HasSuffix(name, ".md"):
		if tests {
			return nil, nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		plain := listItem.ReplaceAllString(notProse.ReplaceAllString(string(text), ""), "\n\n")
		paragraphs = strings.Split(plain, "\n\n")
	case strings.HasSuffix(name, ".go") && strings.HasSuffix(name, "_test.go") == tests:
		if paragraphs, err = comments(name); err != nil {
			return nil, err
		}
	}
	for _, p := range paragraphs {
		p = strings.Join(strings.Fields(p), " ")
		for s := range strings.SplitSeq(sentenceEnd.ReplaceAllString(p, "$1\x00"), "\x00") {
			if len(strings.Fields(s)) >= fewestWords {
				list = append(list, name+": "+s)
			}
		}
	}
	return list, nil
}

func comments(name string) (paragraphs []string, err error) {
	text, err := os.ReadFile(name)
	if err != nil || bytes.Contains(text[:min(len(text), 300)], []byte("Code generated")) {
		return nil, err
	}
	f, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	for _, group := range f.Comments {
		for p := range strings.SplitSeq(group.Text(), "\n\n") {
			if !strings.HasPrefix(p, "\t") {
				paragraphs = append(paragraphs, listItem.ReplaceAllString(p, ""))
			}
		}
	}
	return paragraphs, nil
}
