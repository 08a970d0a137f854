package cmdline

import (
	"io"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"adshard/internal/node/config"
)

const environmentHelp = `
Environment:
  Flags can be given by variables, too: --log-level debug by ADSHARD_LOG_LEVEL=debug.
  The command line wins over a variable, and a variable over the file of --config.
  What is erased or replaced for good is named on the command line only.
`

// noVariable annotates flags that no environment variable sets.
const noVariable = "no variable"

// WithoutVariable makes a flag settable only on the command line. A variable that was set for another command must
// not determine what is irreversibly lost.
func WithoutVariable(flags *pflag.FlagSet, name string) {
	flags.Lookup(name).Annotations = map[string][]string{noVariable: nil}
}

// fromEnvironment sets the flags that are in the environment and not on the command line. An empty variable is
// ignored.
func fromEnvironment(flags *pflag.FlagSet) (wrong error) {
	flags.VisitAll(func(f *pflag.Flag) {
		name := config.Variable(f.Name)
		text := os.Getenv(name)
		if _, never := f.Annotations[noVariable]; never || f.Name == "help" || f.Name == "version" {
			return
		}
		if wrong != nil || text == "" || f.Changed {
			return
		}
		if err := flags.Set(f.Name, text); err != nil {
			wrong = WrongUse("%s in the environment: %w", name, err)
		}
	})
	return wrong
}

// explainEnvironment adds to the help of all commands that flags can be set by environment variables.
func explainEnvironment(root *cobra.Command) {
	usage := root.UsageFunc()
	root.SetUsageFunc(func(c *cobra.Command) error {
		if err := usage(c); err != nil {
			return err
		}
		_, err := io.WriteString(c.OutOrStderr(), environmentHelp)
		return err
	})
}
