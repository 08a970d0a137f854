package cmdline

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"adshard/internal/outfile"
)

// Streams are what a command reads and writes.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Warn writes a warning beside the output.
func (s Streams) Warn(text string) { fmt.Fprintln(s.Err, text) }

// Main runs a program with arguments (without its name) and returns its exit
// status: 0 done, 1 failed, 2 invalid usage, 3 done with rejects.
func Main(ctx context.Context, program *cobra.Command, args []string, s Streams) int {
	outfile.OwnerOnly()
	return execute(ctx, versioned(program), args, s)
}
