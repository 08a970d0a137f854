// Command site draws the documents as static pages: those of docs, and a reference that is made of the
// program itself. It is run in the root of a checkout.
//
//	go run ./internal/site DIR
//
// Pages need neither scripts nor a network. A link to a page, a heading or a file that is not there is an
// error, and so is a page that no group of the navigation has (groups.go).
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
