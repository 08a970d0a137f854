package cli

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"adshard/fault"
	"adshard/internal/cli/cmdline"
)

type sample struct {
	Listen  string        `yaml:"listen"`
	Timeout time.Duration `yaml:"timeout"`
	Slots   int           `yaml:"max_slots"`
	On      bool          `yaml:"on"`
	Names   []string      `yaml:"names"`
	Cache   struct {
		Bytes uint64 `yaml:"bytes"`
	} `yaml:"cache"`
	Hidden string `yaml:"-"` // not a key: no flag
}

// sampled runs a server command with a sample configuration. The configuration returned is nil if the command did not
// start.
func sampled(t *testing.T, args ...string) (status int, got *sample, out, errOut string) {
	t.Helper()
	c := &sample{Listen: ":7100", Timeout: time.Second, Slots: 4, Names: []string{"a"}}
	var o, e bytes.Buffer
	s := Streams{In: strings.NewReader(""), Out: &o, Err: &e}
	command := cmdline.Serve(&cobra.Command{Use: "sample"}, s, cmdline.Server{
		Config: c,
		Validate: func() error {
			if c.Slots < 1 {
				return fault.Newf(fault.Invalid, "sample: config", "max_slots must be at least 1")
			}
			return nil
		},
		Run: func(context.Context, io.Writer, *slog.Logger) error {
			got = c
			return nil
		},
		Help: map[string]string{"listen": "the address to listen on"},
	})
	status = cmdline.Main(context.Background(), command, args, s)
	return status, got, o.String(), e.String()
}

func TestConfigFlagsWinOverTheFile(t *testing.T) {
	path := file(t, "c.yaml", "listen: :1\ntimeout: 2s\nmax_slots: 7\nnames: [b, c]\ncache: {bytes: 5}\n")
	status, got, _, errOut := sampled(t, "--config", path, "--timeout", "3s", "--on", "--names", "x,y", "--cache-bytes=6")
	if status != exitDone {
		t.Fatal(errOut)
	}
	if got.Listen != ":1" || got.Timeout != 3*time.Second || got.Slots != 7 || !got.On || strings.Join(got.Names, "") != "xy" || got.Cache.Bytes != 6 {
		t.Errorf("%+v", got)
	}
	if _, got, _, _ = sampled(t); got.Listen != ":7100" || got.Slots != 4 {
		t.Errorf("defaults: %+v", got)
	}
	if status, got, _, errOut = sampled(t, "--config", file(t, "empty.yaml", "")); status != exitDone || got.Slots != 4 {
		t.Errorf("empty file: %d %s", status, errOut)
	}
}

func TestPrintConfigIsAConfig(t *testing.T) {
	status, got, out, _ := sampled(t, "--print-config", "--max-slots", "9")
	if status != exitDone || got != nil || !strings.Contains(out, "max_slots: 9\n") || !strings.Contains(out, "timeout: 1s\n") {
		t.Fatalf("%d %v %s", status, got, out)
	}
	_, got, _, errOut := sampled(t, "--config", file(t, "again.yaml", out))
	if got == nil || got.Slots != 9 {
		t.Errorf("%+v %s", got, errOut)
	}
}

func TestBadConfig(t *testing.T) {
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"--config", file(t, "a.yaml", "lisen: :1\n")}, "lisen"},
		{[]string{"--config", file(t, "b.yaml", "max_slots: four\n")}, "four"},
		{[]string{"--config", file(t, "c.yaml", "max_slots: 1\nmax_slots: 2\n")}, "max_slots"},
		{[]string{"--config", "/nowhere.yaml"}, "/nowhere.yaml"},
		{[]string{"--max-slots", "four"}, `"four" is not a valid int`},
		{[]string{"--max-slots", ""}, `is not a valid int`},
		{[]string{"--timeout", "3"}, "is not a valid duration"},
		{[]string{"--max-slots", "0"}, "max_slots must be at least 1"},
		{[]string{"--max-slots", "0", "--print-config"}, "max_slots must be at least 1"},
		{[]string{"--hidden", "x"}, "unknown flag"},
		{[]string{"--log-level", "loud"}, "debug, info, warn or error"},
		{[]string{"--log-format", "xml"}, "text or json"},
		{[]string{"x"}, "takes no argument"},
	} {
		status, got, _, errOut := sampled(t, c.args...)
		if status != exitUsage || got != nil || !strings.Contains(errOut, c.says) {
			t.Errorf("%v: %d %q; want %q", c.args, status, errOut, c.says)
		}
	}
}

func TestConfigHelp(t *testing.T) {
	_, _, out, _ := sampled(t, "--help")
	for _, want := range []string{`--listen string`, `the address to listen on (default ":7100")`, "--on ", "--timeout duration", "--names list"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
}
