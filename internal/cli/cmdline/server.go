package cmdline

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"regexp"

	"github.com/spf13/cobra"

	"adshard/internal/node/config"
)

// Server is a command that runs until its context is done.
type Server struct {
	Config   any // pointer to its configuration, which holds the defaults
	Validate func() error
	Check    func(ctx context.Context, log *slog.Logger) error // the checks that Run does first
	Database *string                                           // the database's URL in Config, or nil if there is none
	Run      func(ctx context.Context, out io.Writer, log *slog.Logger) error
	Help     map[string]string // for its keys
}

// Serve makes c the command of a server, with flags for its configuration and logs.
func Serve(c *cobra.Command, s Streams, v Server) *cobra.Command {
	flags := addConfig(c, v.Config, v.Help)
	level := c.Flags().String("log-level", "info", "debug, info, warn or error")
	format := c.Flags().String("log-format", "text", "text or json")
	c.Args = NoArgs
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := flags.load(); err != nil {
			return err
		}
		if flags.show {
			if err := printConfig(s.Out, v.Config); err != nil {
				return err
			}
		}
		if err := v.Validate(); err != nil {
			return flags.faulty(err)
		}
		if flags.show {
			return nil
		}
		log, err := NewLog(s.Err, *level, *format)
		if err != nil {
			return err
		}
		if v.Database != nil {
			if err := CheckDatabase(*v.Database); err != nil {
				return fmt.Errorf("config: db: %w", err)
			}
		}
		if flags.check {
			return v.checked(c.Context(), s.Out, log)
		}
		err = v.Run(c.Context(), s.Out, log)
		if c.Context().Err() != nil && Cancelled(err) {
			return nil // ended as requested
		}
		return err
	}
	return c
}

// checked runs the checks of a start and nothing else.
func (v *Server) checked(ctx context.Context, out io.Writer, log *slog.Logger) error {
	if err := v.Check(ctx, log); err != nil {
		return err
	}
	_, err := fmt.Fprintln(out, "the configuration is valid")
	return err
}

// passwords matches passwords in URLs. No program accepts them there (they belong in files), but a file or an
// environment variable may still contain one.
var passwords = regexp.MustCompile(`(://[^/\s@:]*:)[^\s?]*(@)|([?&](?:ssl)?password=)[^&\s"']*`)

// printConfig writes a configuration without passwords, since the output may be kept in files and logs.
func printConfig(out io.Writer, cfg any) error {
	var text bytes.Buffer
	if err := config.Write(&text, cfg); err != nil {
		return err
	}
	_, err := out.Write(passwords.ReplaceAll(text.Bytes(), []byte("${1}${3}xxxxx${2}")))
	return err
}

// readableAttr writes durations with their unit in every format. Otherwise JSON would have plain nanoseconds.
func readableAttr(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		a.Value = slog.StringValue(a.Value.Duration().String())
	}
	return a
}

// NewLog returns the log of a program with this --log-level and --log-format.
func NewLog(w io.Writer, level, format string) (*slog.Logger, error) {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		return nil, WrongUse("--log-level %s: it is debug, info, warn or error", level)
	}
	options := &slog.HandlerOptions{Level: l, ReplaceAttr: readableAttr}
	switch format {
	case "text":
		return slog.New(slog.NewTextHandler(w, options)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, options)), nil
	}
	return nil, WrongUse("--log-format %s: it is text or json", format)
}
