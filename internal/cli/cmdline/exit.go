package cmdline

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"adshard/fault"
)

// The exit statuses of serving.md §9.
const (
	exitDone = iota
	exitFailed
	exitUsage
	exitRejects
)

// UsageError is an invalid command line or configuration; the exit status is 2.
type UsageError struct{ err error }

// Error implements error.
func (u *UsageError) Error() string { return u.err.Error() }

// Unwrap returns what is wrong with the usage.
func (u *UsageError) Unwrap() error { return u.err }

// Usage turns an error into a usage error.
func Usage(err error) error { return &UsageError{err} }

// WrongUse is like fmt.Errorf, but returns a usage error.
func WrongUse(format string, args ...any) error {
	return Usage(fmt.Errorf(format, args...))
}

// interrupted is the error of a command that was interrupted with Ctrl-C. Its text says what continues.
type interrupted struct{ text string }

func (i *interrupted) Error() string { return i.text }
func (i *interrupted) Unwrap() error { return context.Canceled }

// Interrupted returns the error of an interrupted command; text says what continues.
func Interrupted(text string) error { return &interrupted{text} }

// Cancelled reports whether an error comes from a context that is done.
func Cancelled(err error) bool {
	return errors.Is(err, context.Canceled) || fault.Is(err, fault.Cancelled)
}

// after returns the text that follows the word "interrupted".
func after(err error) string {
	var i *interrupted
	if errors.As(err, &i) {
		return ": " + i.text
	}
	return ""
}

// ErrRejects is returned by an import that rejected some rows; the exit status is 3. The summary has listed the rows.
var ErrRejects = errors.New("some rows were rejected")

// execute runs a command tree. What cobra rejects before a command runs is a usage error.
func execute(ctx context.Context, root *cobra.Command, args []string, s Streams) int {
	ran := false
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error {
		ran = true
		err := fromEnvironment(c.Flags())
		warnExposed(c)
		return err
	}
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetFlagErrorFunc(wrongFlag)
	explainEnvironment(root)
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	root.SetArgs(args)
	if root.HasSubCommands() {
		root.SetHelpCommand(helpCommand(root))
	}
	command, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitDone
	}
	if errors.Is(err, ErrRejects) {
		return exitRejects
	}
	if errors.Is(err, ErrUnhealthy) {
		return exitFailed
	}
	var usage *UsageError
	if !ran || errors.As(err, &usage) {
		fmt.Fprintf(s.Err, "%s: %s\nSee `%s --help`.\n", root.Name(), plainly(err), command.CommandPath())
		return exitUsage
	}
	if ctx.Err() != nil && Cancelled(err) {
		fmt.Fprintf(s.Err, "%s: interrupted%s\n", root.Name(), after(err))
		return exitFailed
	}
	fmt.Fprintf(s.Err, "%s: %v\n", root.Name(), err)
	if hint := advice(err); hint != "" {
		fmt.Fprintf(s.Err, "  %s\n", hint)
	}
	return exitFailed
}

// plainly returns the text of a usage error without the name of the function that could not parse a number.
func plainly(err error) string {
	text, _, _ := strings.Cut(err.Error(), ": strconv.")
	return text
}

// helpCommand returns cobra's help command, except that an unknown command is a usage error.
func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [command]",
		Short: "Help about any command",
		Long:  "Shows the help of a command, as its --help does.",
		RunE: func(_ *cobra.Command, args []string) error {
			c, rest, err := root.Find(args)
			if err == nil && len(rest) > 0 && c.HasSubCommands() {
				return noCommand(c, rest[0])
			}
			if err != nil || len(rest) > 0 {
				return WrongUse("there is no command %q; `%s --help` lists them", strings.Join(args, " "), root.Name())
			}
			c.InitDefaultHelpFlag()
			return c.Help()
		},
	}
}

// Refused turns an error of kind fault.Invalid, about what a flag must not name, into a usage error. Other errors are
// returned as they are.
func Refused(err error) error {
	if fault.Is(err, fault.Invalid) {
		return Usage(err)
	}
	return err
}

// ErrUnhealthy is returned if something is wrong with a cluster; the exit status is 1. The report has said what is
// wrong.
var ErrUnhealthy = errors.New("something is wrong with the cluster")
