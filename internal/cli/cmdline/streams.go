package cmdline

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"adshard/internal/outfile"
)

// Streams are the inputs and outputs of a command.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Warn writes a warning to standard error.
func (s Streams) Warn(text string) { fmt.Fprintln(s.Err, text) }

// Main runs a program with arguments (without its name) and returns its exit status: 0 for done, 1 for failed, 2 for
// invalid usage, 3 for done with rejects.
func Main(ctx context.Context, program *cobra.Command, args []string, s Streams) int {
	outfile.OwnerOnly()
	return execute(ctx, versioned(program), args, s)
}
