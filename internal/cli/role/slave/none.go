//go:build !cgo

package slave

import (
	"github.com/spf13/cobra"

	"adshard/internal/cli/cmdline"
)

// Command returns a replacement for the program in builds without stores.
func Command(cmdline.Streams) *cobra.Command {
	return cmdline.WithoutStores("slave", "Store a part of the ad groups and search it")
}
