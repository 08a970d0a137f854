package cmdline

import (
	"encoding/json"

	"github.com/spf13/cobra"
)

// Outcome prints what a command did: as text for people, or with --json as one object, which
// docs/operations/output.md describes.
type Outcome struct{ json bool }

// Flag adds --json.
func (o *Outcome) Flag(c *cobra.Command) {
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
}

// Print prints v as JSON or, without --json, calls text.
func (o *Outcome) Print(s Streams, v any, text func() error) error {
	if !o.json {
		return text()
	}
	return PrintJSON(s, v)
}

// PrintJSON prints an object, indented.
func PrintJSON(s Streams, v any) error {
	e := json.NewEncoder(s.Out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
