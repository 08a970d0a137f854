package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// withoutJSON maps the commands without --json to the reasons.
var withoutJSON = map[string]string{
	"adshard up": "a server", "adshard balancer": "a server", "adshard slave": "a server", "adshard master": "a server",
	"adshard distributor": "a server", "adshard collector": "a server",
	"adshard db roles": "prints SQL", "adshard blocklist show": "prints a JSON line",
}

// TestEveryCommandHasJSON walks the tree of commands.
func TestEveryCommandHasJSON(t *testing.T) {
	seen := make(map[string]bool)
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		for _, child := range c.Commands() {
			walk(child)
		}
		if c.HasSubCommands() || !c.Runnable() {
			return // prints its help
		}
		path := c.CommandPath()
		seen[path] = true
		has := c.Flags().Lookup("json") != nil || c.InheritedFlags().Lookup("json") != nil
		if _, left := withoutJSON[path]; has == left {
			t.Errorf("%s: --json %v, named as one without: %v", path, has, left)
		}
	}
	walk(adshard(Streams{}))
	for path := range withoutJSON {
		if !seen[path] {
			t.Errorf("there is no command %s", path)
		}
	}
}

// TestOutcomes: with --json, commands print one object with the fields that docs/operations/output.md names, and
// nothing else on standard output.
func TestOutcomes(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	db := "sqlite:" + path("ads.db")
	if status, _, errOut := run(t, "adshard", "import", "--db", db, file(t, "ads.csv", editor)); status != exitDone {
		t.Fatal(errOut)
	}
	described, err := os.ReadFile("../../docs/operations/output.md")
	if err != nil {
		t.Fatal(err)
	}
	_, outputs, ok := strings.Cut(string(described), "\n## Output as JSON\n")
	if !ok {
		t.Fatal("docs/operations/output.md has no section on JSON")
	}
	closeEvents(t, db+"-events")
	thesaurus := file(t, "th.dat", "UTF-8\nfast|1\n(adj)|quick\n")
	for _, args := range [][]string{
		{"version"},
		{"cert", "ca", "--cluster", "x", "--dir", path("certs")},
		{"cert", "issue", "slave", "s", "--dir", path("certs")},
		{"cert", "rotate", "slave", "s", "--dir", path("certs")},
		{"lexicon", "build", "--out", path("lexicon"), "--thesaurus", "en=" + thesaurus},
		{"db", "migrate", "--from", db, "--to", "sqlite:" + path("other.db")},
		{"backup", "--db", db, "--out", path("backup")},
		{"restore", "--from", path("backup"), "--db", db, "--replace"},
		{"quality", "given", "--db", db},
		{"events", "erase", "--db", db, "--advertiser", "1"},
		{"barrels", "build", "--db", db, "--slaves", "1", "--out", path("built")},
	} {
		status, out, errOut := run(t, "adshard", append(args, "--json")...)
		var v map[string]any
		if err := json.Unmarshal([]byte(out), &v); err != nil || status != exitDone {
			t.Errorf("%v: %d %v %s %s", args, status, err, out, errOut)
			continue
		}
		command := strings.Join(strings.SplitN(strings.Join(args, " "), " --", 2)[:1], "")
		if args[0] == "cert" {
			command = "cert " + args[1]
		}
		row := rowOf(outputs, "`"+command+"`")
		for name := range v {
			if !strings.Contains(row, "`"+name+"`") {
				t.Errorf("%s: the field %s is not described in docs/operations/output.md", command, name)
			}
		}
	}
	type files struct{ Cert, Key string }
	out := new(files)
	_, text, _ := run(t, "adshard", "cert", "rotate", "slave", "s", "--dir", path("certs"), "--json")
	want := files{filepath.Join(path("certs"), "slave.s.crt"), filepath.Join(path("certs"), "slave.s.key")}
	if err := json.Unmarshal([]byte(text), out); err != nil || !reflect.DeepEqual(*out, want) {
		t.Errorf("%+v %v, want %+v", out, err, want)
	}
}

// rowOf returns the row of a table whose first cell has a text, or "" if there is none.
func rowOf(page, text string) string {
	for line := range strings.Lines(page) {
		cells := strings.Split(line, "|")
		if strings.HasPrefix(line, "|") && len(cells) > 1 && strings.Contains(cells[1], text) {
			return line
		}
	}
	return ""
}
