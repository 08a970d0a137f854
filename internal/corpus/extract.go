package corpus

import (
	"embed"
	"io/fs"
)

//go:embed extract
var extract embed.FS

// Extract returns the small, freely licensed extract of the sources that is built
// into the program (extract/README.md).
func Extract() fs.FS {
	sub, err := fs.Sub(extract, "extract")
	if err != nil {
		return extract // only for an invalid name
	}
	return sub
}
