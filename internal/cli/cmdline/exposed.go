package cmdline

import (
	"fmt"

	"github.com/spf13/cobra"

	"adshard/internal/node/database"
	"adshard/internal/outfile"
)

// warnExposed warns of database files that a command names and that users other than the owner may read or write.
// Servers, which have a configuration, warn in their logs.
func warnExposed(c *cobra.Command) {
	if c.Flags().Lookup("config") != nil {
		return
	}
	var files []string
	for _, name := range []string{"db", "events", "from", "to"} {
		if flag := c.Flags().Lookup(name); flag != nil {
			files = append(files, database.Files(flag.Value.String())...)
			files = append(files, database.Files(flag.Value.String()+"-events")...)
		}
	}
	if open := outfile.Exposed(files); len(open) > 0 {
		fmt.Fprintf(c.ErrOrStderr(), "warning: other users of this machine may read or write files of the database; their owner closes them with: %s\n", outfile.Closing(open))
	}
}
