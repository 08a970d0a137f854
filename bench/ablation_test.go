package bench

import (
	"bytes"
	"strings"
	"testing"
)

// adbenchAblation runs adbench ablation on the source around this package.
func adbenchAblation(t *testing.T, args ...string) (out string, err error) {
	t.Helper()
	var text bytes.Buffer
	c := AblationCommand()
	c.SetArgs(append([]string{"--source", "..", "--data", "extract", "--work", t.TempDir()}, args...))
	c.SetOut(&text)
	c.SetErr(&text)
	c.SilenceUsage = true
	err = c.ExecuteContext(t.Context())
	return text.String(), err
}

// TestAblation builds the program with an idea switched off, and measures it.
func TestAblation(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs: not in -short")
	}
	out, err := adbenchAblation(t, "--ideas", "norms", "--keywords", "1000", "--setups", "log", "--query-count", "50",
		"--seconds", "0.02", "--rounds", "1", "--pairs-above", "10")
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"| full | nothing |", "| norms |", "## log, 1,000 keywords", "served-top takes", "| words and pairs |"} {
		if !strings.Contains(out, want) {
			t.Errorf("without %q:\n%s", want, out)
		}
	}
}

func TestAblationWrongUse(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"--ideas magic", "there is no idea"},
		{"--rounds 0", "--rounds 0"},
		{"--seconds -1", "--seconds -1"},
		{"--keywords 0", "--keywords 0"},
		{"--set nothing", "--set nothing"},
		{"--pairs-above -1", "--pairs-above -1"},
		{"--setups nothing --keywords 1000", "there is no setup"},
		{"--source /nowhere --keywords 1000 --query-count 10 --setups log", "name the directory of the source"},
	} {
		if out, err := adbenchAblation(t, strings.Fields(c.args)...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v\n%s", c.args, err, out)
		}
	}
}
