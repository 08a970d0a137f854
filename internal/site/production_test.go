package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const editorFile = `Account,Campaign,Ad Group,Keyword,Criterion Type,Max CPC,Headline 1,Final URL
Acme,Cables,USB,usb cable,Broad,0.40,,
Acme,Cables,USB,,,,USB cables that last,https://acme.example/usb
`

// TestProduction follows the page about three machines, on three addresses of this one: certificates, configurations,
// the programs that its units start, and the commands with which an operator inspects them. Here the database is a
// file that both balancers can open.
func TestProduction(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/production.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "ads.csv"), []byte(editorFile), 0o600); err != nil {
		t.Fatal(err)
	}
	page, begin, _ := strings.Cut(string(text), "\ndb: postgres:")
	_, rest, _ := strings.Cut(begin, "\n")
	page += "\ndb: sqlite:" + dir + "/ads.db\n" + rest
	others := []string{"10.0.0.", "127.77.0.", "=/etc/adshard\n", "=$PWD\n", "memory: 24GiB", "memory: 256MiB"}
	ports := freePorts(t, 6)
	for i, port := range []string{"7000", "7001", "7100", "7101", "8080", "8081"} {
		others = append(others, ":"+port, ":"+ports[i])
	}
	s := startShell(t, dir, "PATH="+installed(t)+":"+os.Getenv("PATH"), asAdshard+"=")
	if out, err := s.run("adshard import --db sqlite:ads.db ads.csv"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s.play(t, "docs/production.md", stepsOf(strings.NewReplacer(others...).Replace(page)))
	if out, err := s.run("kill $(jobs -p) && wait"); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
