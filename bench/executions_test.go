package bench

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adshard/bench/executions"
	"adshard/bench/page/pagetest"
)

func adbenchExecutions(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var text bytes.Buffer
	c := ExecutionsCommand()
	c.SetArgs(append([]string{"--data", "extract"}, args...))
	c.SetOut(&text)
	c.SetErr(&text)
	c.SilenceUsage = true
	err := c.ExecuteContext(t.Context())
	return text.String(), err
}

// TestExecutions runs the command on a small scale: parts with high and with low
// resources, joined.
func TestExecutions(t *testing.T) {
	dir := t.TempDir()
	high, low, page := filepath.Join(dir, "high.json"), filepath.Join(dir, "low.json"), filepath.Join(dir, "page.html")
	common := []string{"--keywords", "500", "--times", "50", "--runs", "2", "--work", filepath.Join(dir, "work")}
	for _, args := range [][]string{
		{"--layouts", "B,RDB-Pr-Fl-Opt,RDB-Pr-Cp,LInK", "--setups", "SQ1-1S-HR,RQ1600-8S-HR", "--json", high},
		{"--layouts", "RDB-Pr-Fl-Opt,RDB-Pr-Cp", "--setups", "RQ1600-8S-LR", "--json", low},
	} {
		if out, err := adbenchExecutions(t, append(common, args...)...); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	out, err := adbenchExecutions(t, "--join", high+","+low, "--html", page)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	r, err := executions.Join(high, low)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Outcomes) != 4*2+2 {
		t.Errorf("%d outcomes", len(r.Outcomes))
	}
	for _, o := range r.Outcomes {
		if o.Executions != 50 || len(o.Medians) != 2 || o.Box.Median <= 0 || (o.Cache > 0) != strings.HasSuffix(o.Setup, "8S-LR") {
			t.Errorf("%+v", o)
		}
	}
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	pagetest.Check(t, string(raw))
	if !strings.Contains(out, "| figures 7.6 and 7.7 | RQ1600-8S-LR is only") || !strings.Contains(string(raw), "figures 7.6 and 7.7") || bytes.Contains(raw, []byte(dir)) {
		t.Errorf("the page is not right, or what is shown: %s", out)
	}
}

func TestExecutionsWrongUse(t *testing.T) {
	for want, args := range map[string][]string{
		"--keywords 9": {"--keywords", "9"}, "--times 1": {"--times", "1"}, "--runs 0": {"--runs", "0"}, "--limit": {"--limit", "-1s"}, `no setup "SQ1-5S-HR"`: {"--setups", "SQ1-5S-HR"},
		`no layout "x"`: {"--layouts", "x"}, "is not there": {"--join", "no.json"}, "no directory": {"--json", "/nowhere/x"}, "unknown command": {"surplus"},
	} {
		if out, err := adbenchExecutions(t, args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %s\n%s", args, err, want, out)
		}
	}
}
