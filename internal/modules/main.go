// Command modules lists what the programs are linked from: the Go modules, as `go list` names them, with the licences
// that are found in their files.
//
//	modules notice           the part of NOTICE that names modules and licences
//	modules copyright        the texts of all licences, as a Debian package has them
//	modules sbom VERSION     a software bill of materials, in CycloneDX 1.6
//
// With -also PURL=DIR the last two also list a library that is linked statically and is not a Go module: its package
// URL, such as pkg:github/owner/name@v1.0.0, and a directory with its licences.
//
// It fails if a module has no licence, or one that it does not know: then the author of a new dependency must decide.
// The output depends only on go.mod, CGO_ENABLED and the licences of -also.
package main

import (
	"fmt"
	"io"
	"os"
)

func main() {
	if err := run(os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "modules:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, args []string) error {
	also := ""
	if len(args) > 1 && args[0] == "-also" {
		also, args = args[1], args[2:]
	}
	if len(args) == 0 {
		return fmt.Errorf("say notice, copyright or sbom VERSION")
	}
	list, err := linked(".", "./cmd/...")
	if err != nil {
		return err
	}
	if also != "" {
		m, err := library(also)
		if err != nil {
			return err
		}
		list = append(list, m)
	}
	switch {
	case args[0] == "notice" && len(args) == 1:
		return writeNotice(w, list)
	case args[0] == "copyright" && len(args) == 1:
		own, err := os.ReadFile("NOTICE")
		if err != nil {
			return err
		}
		return writeCopyright(w, string(own), list)
	case args[0] == "sbom" && len(args) == 2:
		return writeSBOM(w, args[1], list)
	}
	return fmt.Errorf("say notice, copyright or sbom VERSION, not %q", args)
}
