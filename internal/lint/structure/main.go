// Structure prints how a checkout of the project is built: its packages, the imports and calls between them, and how
// far it keeps the project's limits. The checkout may be of another commit, so that the same program can compare two
// commits. Usage: structure [DIR]
package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"adshard/internal/lint/source"
)

func main() {
	dir := "."
	switch args := os.Args[1:]; {
	case len(args) == 1 && !strings.HasPrefix(args[0], "-"):
		dir = args[0]
	case len(args) > 0:
		fmt.Fprintln(os.Stderr, "usage: structure [DIR]")
		os.Exit(2)
	}
	if err := run(context.Background(), dir, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "structure:", err)
		os.Exit(1)
	}
}

// run writes the figures of the checkout in dir, as Markdown.
func run(ctx context.Context, dir string, out io.Writer) error {
	tree, err := source.Read(dir)
	if err != nil {
		return err
	}
	page, err := os.Open(filepath.Join(dir, "docs", "architecture.md"))
	if err != nil {
		return fmt.Errorf("read the order of the packages: %w", err)
	}
	defer func() { _ = page.Close() }() // only read
	layers, err := tree.ReadLayers(page)
	if err != nil {
		return err
	}
	modules, err := linkedModules(ctx, dir)
	if err != nil {
		return err
	}
	program, err := load(ctx, dir, scope)
	if err != nil {
		return err
	}
	calls, err := program.callsFrom(searchPackage, searchMethod)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(out)
	writeFigures(w, tree, layers, modules)
	writeCalls(w, calls, layers)
	return w.Flush()
}
