package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

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
			_, err := fmt.Fprintf(s.Out, "adshard %s, %s %s/%s\nwords %s\n",
				programVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH, words.Version())
			return err
		},
	}
}

// programVersion is the module's version, and the commit if it is known.
func programVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	version := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			version += " " + s.Value
		}
	}
	return version
}
