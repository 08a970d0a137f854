package cli

import (
	"encoding/json"

	"github.com/spf13/cobra"
)

// outcome is how a command says what it did: to people, or with --json as one object, which
// docs/operations/output.md describes.
type outcome struct{ json bool }

func (o *outcome) flag(c *cobra.Command) {
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
}

// print prints v as JSON or, without --json, calls text.
func (o *outcome) print(s Streams, v any, text func() error) error {
	if !o.json {
		return text()
	}
	return printJSON(s, v)
}

// printJSON prints an object, indented.
func printJSON(s Streams, v any) error {
	e := json.NewEncoder(s.Out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
