//go:build !cgo

package up

import (
	"github.com/spf13/cobra"

	"adshard/internal/cli/cmdline"
)

// Command stands for the command in a program that keeps no store.
func Command(cmdline.Streams) *cobra.Command {
	return cmdline.WithoutStores("up", "Run a whole cluster on this machine")
}

// Barrels stands for the command in a program that keeps no store.
func Barrels(cmdline.Streams) *cobra.Command {
	return cmdline.WithoutStores("barrels", "Make the slaves' stores offline")
}
