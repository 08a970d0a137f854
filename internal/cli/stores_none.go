//go:build !cgo

package cli

import (
	"errors"

	"github.com/spf13/cobra"
)

// Built without cgo a program is static and has no RocksDB: it can do all but keep a store.

func upCommand(Streams) *cobra.Command {
	return withoutStores("up", "Run a whole cluster on this machine")
}

func barrelsCommand(Streams) *cobra.Command {
	return withoutStores("barrels", "Make the slaves' stores offline")
}

func slaveCommand(Streams) *cobra.Command {
	return withoutStores("slave", "Store a part of the ad groups and search it")
}

// withoutStores stands for a command that this program lacks, and says why.
func withoutStores(name, short string) *cobra.Command {
	const why = "this program was built without cgo, and so without RocksDB; use one that has it"
	return &cobra.Command{
		Use: name, Short: short + " (not in this program)", Long: "Does nothing: " + why + ".",
		FParseErrWhitelist: cobra.FParseErrWhitelist{UnknownFlags: true},
		RunE:               func(*cobra.Command, []string) error { return errors.New(name + ": " + why) },
	}
}
