package bench

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adshard/bench/measure"
	"adshard/bench/page/pagetest"
)

// TestClicks: the command writes its report and its page; learned qualities are worth
// more than equal and random ones, and less than known rates.
func TestClicks(t *testing.T) {
	dir := t.TempDir()
	report, page := filepath.Join(dir, "clicks.json"), filepath.Join(dir, "clicks.html")
	c := ClicksCommand()
	var out bytes.Buffer
	c.SetArgs([]string{"--data", "extract", "--keywords", "3000", "--distinct", "150", "--days", "20", "--day-queries", "20000", "--runs", "2",
		"--changed", "0", "--json", report, "--html", page})
	c.SetOut(&out)
	c.SetErr(&out)
	if err := c.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	pagetest.Check(t, string(raw))
	r, err := measure.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	at := func(policy string) float64 {
		f, ok := r.Find(policy + ": value, last week")
		if !ok {
			t.Fatalf("nothing about %s", policy)
		}
		return f.Value
	}
	if learned, same, random := at("learned"), at("all the same"), at("random"); learned < same || learned < random || learned > 100 {
		t.Errorf("of known rates, learned are worth %.2f %%, the same %.2f %%, random %.2f %%\n%s", learned, same, random, out.String())
	}
	if !strings.Contains(out.String(), "Learned qualities lose") {
		t.Errorf("no finding:\n%s", out.String())
	}
}

// TestClicksRefuses: invalid flags are refused before anything runs.
func TestClicksRefuses(t *testing.T) {
	for _, args := range [][]string{
		{"--days", "1"}, {"--day-queries", "0"}, {"--runs", "0"}, {"--rate", "0"}, {"--changed", "2"}, {"--examination", "0.5,0.2"},
		{"--half-life", "-1"}, {"--optimism", "11"}, {"--distinct", "0"}, {"--html", "/nowhere/x"}, {"more"},
	} {
		c := ClicksCommand()
		c.SetArgs(args)
		c.SetOut(new(bytes.Buffer))
		c.SetErr(new(bytes.Buffer))
		if err := c.Execute(); err == nil {
			t.Errorf("%v is taken", args)
		}
	}
}
