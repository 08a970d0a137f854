// Command site renders the documents as static pages: the pages of docs, and a reference that is made from the
// program itself. Run it in the root of a checkout.
//
//	go run ./internal/site DIR
//
// The pages need neither scripts nor a network. It is an error if a link leads to a page, a heading or a file that
// does not exist, or if a page is in no group of the navigation (groups.go).
package main

import (
	"fmt"
	"os"
)

func main() {
	if len(os.Args) != 2 || os.Args[1] == "" || os.Args[1][0] == '-' {
		fmt.Fprintln(os.Stderr, "usage: site DIR")
		os.Exit(2)
	}
	if err := build(".", os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
