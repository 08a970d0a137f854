package cmdline

import (
	"errors"

	"github.com/spf13/cobra"
)

// WithoutStores returns a command that replaces one that a program built without cgo lacks, and says why. Such a
// program is static and has no RocksDB. It can do everything except keep a store.
func WithoutStores(name, short string) *cobra.Command {
	const why = "this program was built without cgo, and so without RocksDB; use one that has it"
	return &cobra.Command{
		Use: name, Short: short + " (not in this program)", Long: "Does nothing: " + why + ".",
		FParseErrWhitelist: cobra.FParseErrWhitelist{UnknownFlags: true},
		RunE:               func(*cobra.Command, []string) error { return errors.New(name + ": " + why) },
	}
}
