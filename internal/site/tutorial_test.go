package main

import (
	"os"
	"strings"
	"testing"
)

// TestTutorial runs every command of the tutorial with real processes, and requests every address that it names.
func TestTutorial(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/tutorial.md")
	if err != nil {
		t.Fatal(err)
	}
	var others []string
	ports := freePorts(t, 4)
	for i, port := range []string{"8080", "8081", "7130", "7131"} {
		others = append(others, "127.0.0.1:"+port, "127.0.0.1:"+ports[i])
	}
	steps := stepsOf(strings.NewReplacer(others...).Replace(string(page)))
	if len(steps) < 20 {
		t.Fatalf("only %d steps in the tutorial", len(steps))
	}
	s := startShell(t, t.TempDir(), "PATH="+installed(t)+":"+os.Getenv("PATH"), asAdshard+"=127.0.0.1:"+ports[0]+" 127.0.0.1:"+ports[1])
	s.play(t, "docs/tutorial.md", steps)
}

// TestLacks: all that a page shows is compared, except for what varies.
func TestLacks(t *testing.T) {
	const output = "#  AD     PRICE\n1  Lamps  0.35\n3 of 3 shards, 1.5 ms\nclock 6-9d01\n"
	for _, c := range []struct {
		shown []string
		want  string
	}{
		{nil, ""},
		{[]string{"# AD PRICE", "1 Lamps 0.35", "3 of 3 shards, 12 ms", "clock 6-…"}, ""},
		{[]string{"…", "clock 6-9d01"}, ""},
		{[]string{"1 Lamps 0.36"}, "1 Lamps 0.36"},
		{[]string{"Lamps 0.35"}, "Lamps 0.35"},
		{[]string{"1 Lamps 0.35", "# AD PRICE"}, "# AD PRICE"},
		{[]string{"2 of 3 shards, 1.5 ms"}, "2 of 3 shards, 1.5 ms"},
		{[]string{"clock 7-…"}, "clock 7-…"},
	} {
		if got := lacks(output, c.shown); got != c.want {
			t.Errorf("%q: lacks %q, want %q", c.shown, got, c.want)
		}
	}
}
