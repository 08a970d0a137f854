package cmdline

import (
	"fmt"

	"github.com/spf13/cobra"

	"adshard/internal/version"
	"adshard/search/words"
)

// VersionCommand returns the command that shows versions.
func VersionCommand(s Streams) *cobra.Command {
	var o Outcome
	c := &cobra.Command{
		Use:   "version",
		Short: "Show the versions of the program and of its tables",
		Long: `Shows the versions of the program and of the word tables that it was built with. Stores
record the latter: a program with other word tables has to rebuild them.`,
		Args: NoArgs,
		RunE: func(*cobra.Command, []string) error {
			b := version.Current()
			return o.Print(s, versionJSON{b.Version, b.Commit, b.Go, b.Platform, words.Version()}, func() error {
				_, err := fmt.Fprintf(s.Out, "adshard %s\nwords %s\n", b, words.Version())
				return err
			})
		},
	}
	o.Flag(c)
	return c
}

type versionJSON struct {
	Version  string `json:"version"`
	Commit   string `json:"commit"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Words    string `json:"words"` // the word tables
}

// versioned adds the flag --version to a program.
func versioned(root *cobra.Command) *cobra.Command {
	root.Version = version.Current().String()
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	return root
}
