package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"adshard/internal/version"
)

// The exit statuses of serving.md §9.
const (
	exitDone = iota
	exitFailed
	exitUsage
	exitRejects
)

func TestMain(m *testing.M) {
	if args := os.Getenv(childEnv); args != "" {
		os.Exit(child(args))
	}
	goleak.VerifyTestMain(m)
}

// run runs a program and returns its exit status and what it wrote.
func run(t *testing.T, program string, args ...string) (status int, out, errOut string) {
	t.Helper()
	return runIn(t, "", program, args...)
}

func runIn(t *testing.T, in, program string, args ...string) (status int, out, errOut string) {
	t.Helper()
	var o, e bytes.Buffer
	status = Main(context.Background(), program, args, Streams{In: strings.NewReader(in), Out: &o, Err: &e})
	return status, o.String(), e.String()
}

// file writes a file into a new directory and returns its path.
func file(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestWrongUse: a wrong command line gives exit status 2 and, on standard error only, what is wrong and where to find
// help.
func TestWrongUse(t *testing.T) {
	for _, c := range []struct {
		args string
		says string
	}{
		{"", "name a command"},
		{"nonsense", `no command "nonsense"`},
		{"--nonsense", "unknown flag"},
		{"import", "name at least one file"},
		{"import --db sqlite:x.db", "name at least one file"},
		{"import a.csv", "--db is missing"},
		{"import --db x.db a.csv", "sqlite:PATH"},
		{"import --db sqlite: a.csv", "the path is missing"},
		{"import --db sqlite:x.db --format xml a.csv", "editor or jsonl"},
		{"import --db", "needs an argument"},
		{"query", "name the words"},
		{"query --slots four a", "invalid argument"},
		{"query --addr ftp://x a", "HOST:PORT"},
		{"query --addr http:// a", "HOST:PORT"},
		{"slaves", "name a command"},
		{"slaves listen", `no command "listen"`},
		{"slaves list x", "takes no argument"},
		{"lexicon build", "--out is missing"},
		{"lexicon build --out x --thesaurus en", "LANGUAGE=FILE"},
		{"lexicon build --out x --thesaurus en=y --languages en", "leave it out"},
		{"lexicon build --out x --languages fr", "no stems"},
		{"version x", "takes no argument"},
	} {
		status, out, errOut := run(t, "adshard", strings.Fields(c.args)...)
		if status != exitUsage || !strings.Contains(errOut, c.says) || !strings.Contains(errOut, "--help`") || out != "" {
			t.Errorf("adshard %s: status %d, out %q, err %q; want 2 and %q", c.args, status, out, errOut, c.says)
		}
		if strings.Contains(errOut, "secret") {
			t.Errorf("adshard %s: the password is shown", c.args)
		}
	}
}

// TestEveryCommandHasHelpWithExamples walks the tree of commands.
func TestEveryCommandHasHelpWithExamples(t *testing.T) {
	root := adshard(Streams{})
	commands := root.Commands()
	for i := 0; i < len(commands); i++ {
		commands = append(commands, commands[i].Commands()...)
	}
	for _, c := range commands {
		status, out, _ := run(t, "adshard", append(strings.Fields(c.CommandPath())[1:], "--help")...)
		if status != exitDone || !strings.Contains(out, "Usage:") || !strings.Contains(out, "ADSHARD_LOG_LEVEL") || c.Long == "" {
			t.Errorf("%s --help: status %d, %q", c.CommandPath(), status, out)
		}
		if !c.HasSubCommands() && c.HasLocalFlags() && c.Name() != "version" && c.Example == "" {
			t.Errorf("%s has flags and no example", c.CommandPath())
		}
		for line := range strings.Lines(out) {
			if len([]rune(strings.TrimRight(line, "\n"))) > 140 {
				t.Errorf("%s --help: a long line: %q", c.CommandPath(), line)
			}
		}
	}
}

func TestVersion(t *testing.T) {
	status, out, _ := run(t, "adshard", "version")
	if status != exitDone || !strings.HasPrefix(out, "adshard ") || !strings.Contains(out, "\nwords rules ") {
		t.Errorf("%d %q", status, out)
	}
}

// TestEveryProgramSaysItsVersion: --version prints one line, which begins with the program's name.
func TestEveryProgramSaysItsVersion(t *testing.T) {
	for _, program := range []string{"adshard", "master", "slave", "balancer", "distributor", "collector"} {
		status, out, errOut := run(t, program, "--version")
		if want := program + " " + version.Current().String() + "\n"; status != exitDone || out != want || errOut != "" {
			t.Errorf("%s --version: %d %q %q, want %q", program, status, out, errOut, want)
		}
	}
}

const editor = `Account,Campaign,Ad Group,Keyword,Criterion Type,Max CPC,Headline 1,Final URL
Acme,C,G,usb cable,Broad,1.5,,
Acme,C,G,,,,Cables,https://example.com/
`

func TestImport(t *testing.T) {
	db := "sqlite:" + filepath.Join(t.TempDir(), "ads.db")
	good := file(t, "good.csv", editor)
	status, out, errOut := run(t, "adshard", "import", "--db", db, good)
	if status != exitDone || !strings.HasPrefix(out, "2 rows") || !strings.HasSuffix(errOut, "ads.db did not exist; created\n") {
		t.Fatalf("%d %q %q", status, out, errOut)
	}
	status, out, errOut = runIn(t, editor, "adshard", "import", "--db", db, "-")
	if status != exitDone || !strings.Contains(out, "nothing changed") || errOut != "" {
		t.Errorf("again: %d %q %q", status, out, errOut)
	}

	rejects := filepath.Join(t.TempDir(), "rejects.tsv")
	bad := file(t, "bad.csv", editor+strings.Repeat("Acme,C,G,a cable,Broad,-1,,\n", 12))
	status, out, errOut = run(t, "adshard", "import", "--db", db, "--rejects", rejects, bad)
	if status != exitRejects || !strings.Contains(out, "12 rejected") || !strings.Contains(errOut, "row 4, MaxCPC") && !strings.Contains(errOut, "row 4") ||
		!strings.Contains(errOut, "and 2 more; all are in "+rejects) {
		t.Errorf("rejects: %d %q %q", status, out, errOut)
	}
	if data, err := os.ReadFile(rejects); err != nil || bytes.Count(data, []byte("\n")) != 12 {
		t.Errorf("%v %q", err, data)
	}
}

func TestImportThatFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "ads.db")
	notOurs := file(t, "text.db", strings.Repeat("this is not a database\n", 500))
	wrong := file(t, "wrong.csv", "a,b,c\n1,2,3\n")
	for _, c := range []struct {
		name   string
		args   []string
		status int
		says   string
	}{
		{"missing file", []string{"--db", "sqlite:" + path, filepath.Join(dir, "none.csv")}, exitFailed, "none.csv"},
		{"directory", []string{"--db", "sqlite:" + path, dir}, exitFailed, "is a directory"},
		{"rejects in no directory", []string{"--db", "sqlite:" + path, "--rejects", filepath.Join(dir, "x", "y"), wrong}, exitUsage, "there is no directory"},
		{"no database", []string{"--db", "sqlite:" + notOurs, wrong}, exitFailed, "text.db"},
		{"not an Editor file", []string{"--db", "sqlite:" + path, wrong}, exitFailed, "wrong.csv"},
	} {
		status, _, errOut := run(t, "adshard", append([]string{"import"}, c.args...)...)
		if status != c.status || !strings.Contains(errOut, c.says) {
			t.Errorf("%s: %d %q", c.name, status, errOut)
		}
		if _, err := os.Stat(path); err == nil && c.name != "not an Editor file" {
			t.Errorf("%s: a database was made", c.name)
		}
	}
}

func TestLexicon(t *testing.T) {
	thesaurus := file(t, "en.dat", "UTF-8\ncar|1\n(noun)|automobile|motorcar\n")
	out := filepath.Join(t.TempDir(), "lexicon.txt")
	status, said, errOut := run(t, "adshard", "lexicon", "build", "--out", out, "--thesaurus", "en="+thesaurus)
	if status != exitDone || !strings.HasPrefix(said, "en: ") {
		t.Errorf("%d %q %q", status, said, errOut)
	}
	status, _, errOut = run(t, "adshard", "lexicon", "build", "--out", out, "--thesaurus", "en=/nowhere")
	if status != exitFailed || !strings.Contains(errOut, "/nowhere") {
		t.Errorf("%d %q", status, errOut)
	}
}
