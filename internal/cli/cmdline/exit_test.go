package cmdline

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestInterruptedSaysWhatGoesOn: after "interrupted" the message says which operation goes on.
func TestInterruptedSaysWhatGoesOn(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	var errOut bytes.Buffer
	command := &cobra.Command{Use: "sample", RunE: func(*cobra.Command, []string) error {
		cancel()
		return Interrupted("the move goes on")
	}}
	status := execute(ctx, command, []string{}, Streams{In: strings.NewReader(""), Out: &errOut, Err: &errOut})
	if status != exitFailed || errOut.String() != "sample: interrupted: the move goes on\n" {
		t.Errorf("%d %q", status, errOut.String())
	}
}
