package cli

import (
	"strings"
	"testing"
)

// TestDidYouMean: misspelt commands, flags and keys of files get a suggestion, unless no name is near.
func TestDidYouMean(t *testing.T) {
	for _, c := range []struct {
		args, says string
	}{
		{"quer usb", `there is no command "quer"; did you mean query?`},
		{"explain usb", `there is no command "explain"; did you mean query?`},
		{"slaves lst", `there is no command "lst"; did you mean list?`},
		{"help balnce", `there is no command "balnce"; did you mean balance?`},
		{"help slaves lst", `there is no command "lst"; did you mean list?`},
		{"mastr", `there is no command "mastr"; `}, // hidden command
		{"query --devise mobile usb", "unknown flag: --devise; did you mean --device?"},
		{"up --slave 3", "unknown flag: --slave; did you mean --slaves?"},
		{"balance status --adr :7001", "unknown flag: --adr; did you mean --addr?"},
		{"master --config " + file(t, "a.yaml", "admin: 127.0.0.1:1\nlisten_on: :1\nblancer: 127.0.0.1:7000\n"),
			"line 2: there is no key listen_on; --print-config shows all; line 3: there is no key blancer; did you mean balancer?; --print-config shows all"},
		{"master --config " + file(t, "b.yaml", "tls:\n  mod: off\n"), "line 2: there is no key mod; did you mean mode?"},
	} {
		status, out, errOut := run(t, "adshard", strings.Fields(c.args)...)
		if status != exitUsage || out != "" || !strings.Contains(errOut, c.says) {
			t.Errorf("adshard %s: %d %q; want %q", c.args, status, errOut, c.says)
		}
	}
	for _, args := range []string{"nonsense", "query --nonsense x", "query -Z x"} {
		if _, _, errOut := run(t, "adshard", strings.Fields(args)...); strings.Contains(errOut, "did you mean") {
			t.Errorf("adshard %s: %q", args, errOut)
		}
	}
}
