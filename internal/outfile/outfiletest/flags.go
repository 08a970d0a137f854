package outfiletest

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// valued has the types of flags that cannot name a file.
var valued = []string{"bool", "int", "int64", "uint", "uint8", "uint16", "uint32", "uint64", "uintSlice", "intSlice", "int64Slice", "float64", "float64Slice", "float", "duration", "config.size", "count"}

// CheckFlags fails the test for each flag of a command, and of those below it, that could name an output and is in
// neither list. reading has the flags that name no output, by the flag's name, or by command and flag where commands
// differ. rows has the outputs, by command and flag. An entry that no command has is a fault, too.
func CheckFlags(t *testing.T, root *cobra.Command, reading, rows []string) {
	t.Helper()
	used := make(map[string]bool)
	all := []*cobra.Command{root}
	for i := 0; i < len(all); i++ {
		all = append(all, all[i].Commands()...)
		command := strings.TrimPrefix(strings.TrimPrefix(all[i].CommandPath(), root.Name()), " ")
		all[i].Flags().VisitAll(func(f *pflag.Flag) {
			name := command + " " + f.Name
			used[name], used[f.Name] = true, true
			output, input := slices.Contains(rows, name), slices.Contains(reading, name) || slices.Contains(reading, f.Name)
			if !slices.Contains(valued, f.Value.Type()) && output == input {
				t.Errorf("%s: is --%s an output (%v) or an input (%v)? An output needs a row in this test", command, f.Name, output, input)
			}
		})
	}
	for _, name := range slices.Concat(reading, rows) {
		if !used[name] {
			t.Errorf("no command has %q", name)
		}
	}
}
