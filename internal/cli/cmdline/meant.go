package cmdline

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"adshard/internal/near"
)

// noCommand returns the error for a name that no command of a group has.
func noCommand(group *cobra.Command, name string) error {
	meant := ""
	group.SuggestionsMinimumDistance = 2
	if list := group.SuggestionsFor(name); len(list) > 0 {
		meant = "; did you mean " + strings.Join(list, " or ") + "?"
	}
	return WrongUse("there is no command %q%s; `%s --help` lists them", name, meant, group.CommandPath())
}

// wrongFlag adds to the error of an unknown flag the flag that may be meant.
func wrongFlag(c *cobra.Command, err error) error {
	var none *pflag.NotExistError
	if !errors.As(err, &none) || none.GetSpecifiedShortnames() != "" {
		return err
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	if name := near.Name(none.GetSpecifiedName(), names); name != "" {
		return fmt.Errorf("%w; did you mean --%s?", err, name)
	}
	return err
}

// Group makes a command that only has subcommands. Without a subcommand it shows its help and returns a usage error.
func Group(c *cobra.Command) *cobra.Command {
	c.Args = cobra.ArbitraryArgs
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return noCommand(c, args[0])
		}
		c.SetOut(c.ErrOrStderr())
		_ = c.Help()
		return WrongUse("name a command")
	}
	return c
}

// NoArgs returns an error if there are arguments.
func NoArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return WrongUse("%s takes no arguments, but was given %q", c.CommandPath(), args[0])
	}
	return nil
}
