package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"adshard/internal/version"
	"adshard/search/words"
)

func versionCommand(s Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Show the versions of the program and of its tables",
		Long: `Shows the versions of the program and of the word tables that it was built with. Stores
record the latter: a program with other word tables has to rebuild them.`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(s.Out, "adshard %s\nwords %s\n", version.Current(), words.Version())
			return err
		},
	}
}

// versioned gives a program the flag --version.
func versioned(root *cobra.Command) *cobra.Command {
	root.Version = version.Current().String()
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	return root
}
