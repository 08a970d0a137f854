//go:build !cgo

package up

import (
	"github.com/spf13/cobra"

	"adshard/internal/cli/cmdline"
)

// Command returns a replacement for the command in builds without stores.
func Command(cmdline.Streams) *cobra.Command {
	return cmdline.WithoutStores("up", "Run a whole cluster on this machine")
}

// Barrels returns a replacement for the commands in builds without stores.
func Barrels(cmdline.Streams) *cobra.Command {
	return cmdline.WithoutStores("barrels", "Make the slaves' stores offline")
}
