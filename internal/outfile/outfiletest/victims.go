// Package outfiletest has files that no output may destroy, for tests of everything that writes outputs.
package outfiletest

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// Victims are files and names in a directory that no output may destroy.
type Victims struct {
	Dir string
	// Paths maps descriptions to paths to which no output may be written.
	Paths map[string]string
	// Dirs are those paths at which no directory may be made, and no file below.
	Dirs []string
}

// header is the beginning of a SQLite file.
const header = "SQLite format 3\x00\x10\x00\x02\x02"

// content has the victims that are files, by name.
var content = map[string]string{
	"big.db": header + "data", "big.db-wal": "\x37\x7f\x06\x82frames", "big.db-shm": "\x18\xe2\x2d\x00index", "big.db-journal": "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7pages",
	"big.db-events": header + "events", "stray-wal": "\x37\x7f\x06\x83frames", "other.db": header + "nothing beside it",
	"a.key": "-----BEGIN PRIVATE KEY-----\nMC4=\n-----END PRIVATE KEY-----\n", "tokens": "# who may\noperator alice 0123456789abcdef0123456789abcdef\n",
	"a.crt": "-----BEGIN CERTIFICATE-----\nMC4=\n-----END CERTIFICATE-----\n", "notes.txt": "my notes\n", "settings.yaml": "db: sqlite:big.db\n", "report.json": "{\n \"name\": \"x\"\n}\n",
	"rejects.tsv":   "ads.csv\t45\tKeyword\t11 words\n",
	"conflicts.tsv": "advertiser\tcampaign\tgroup\tnegative\tnegative_type\tnegative_of\tkeyword\tkeyword_type\n",
	"lexicon.txt":   "adshard lexicon 1\nx\n", "queries.log": "red lamp\t2026-11-26T10:00:00Z\n",
	"store/CURRENT": "MANIFEST-000005\n", "store/IDENTITY": "5e0b\n", "store/MANIFEST-000005": "\x00edits", "store/000007.sst": "table", "store/adshard.lock": "",
	"backup/manifest.json": "{\n  \"format\": 1,\n  \"sha256\": \"00\"\n}\n", "backup/ads.db": header + "saved",
}

// Make makes the victims in a new directory.
func Make(t testing.TB) *Victims {
	t.Helper()
	v := &Victims{Dir: t.TempDir(), Paths: make(map[string]string)}
	at := func(name string) string { return filepath.Join(v.Dir, name) }
	do := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range content {
		do(os.MkdirAll(filepath.Dir(at(name)), 0o750))
		do(os.WriteFile(at(name), []byte(text), 0o640))
		v.Paths[name] = at(name)
	}
	do(os.Link(at("big.db"), at("hard")))
	do(os.Symlink("big.db", at("soft")))
	do(os.Symlink("other.db-wal", at("dangling")))
	do(os.Symlink(".", at("here")))
	do(syscall.Mkfifo(at("pipe"), 0o600))
	v.Dirs = []string{"other.db-wal", "other.db-shm", "other.db-journal", "other.db-events", "other.db-events-wal", "here/other.db-wal", "dangling",
		"hard-wal", "store/new", "backup/new", "big.db", "notes.txt"}
	for _, name := range slices.Concat(v.Dirs, []string{"hard", "soft", "pipe", "store", "backup"}) {
		v.Paths[name] = at(name)
	}
	return v
}

// State returns the state of the directory, with a line for each file. If it has not changed, nothing was destroyed.
func (v *Victims) State(t testing.TB) string { return State(t, v.Dir) }

// State returns the state of a directory.
func State(t testing.TB, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		fmt.Fprintf(&b, "%s %v", rel, info.Mode())
		if e.Type() == fs.ModeSymlink {
			to, _ := os.Readlink(path)
			b.WriteString(" to " + to)
		}
		if e.Type().IsRegular() {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " %d %x", info.Sys().(*syscall.Stat_t).Ino, sha256.Sum256(text))
		}
		b.WriteString("\n")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Changes returns the lines that differ between two states.
func Changes(before, now string) string {
	was, is := strings.SplitAfter(before, "\n"), strings.SplitAfter(now, "\n")
	var b strings.Builder
	for _, line := range was {
		if !slices.Contains(is, line) {
			b.WriteString("- " + line)
		}
	}
	for _, line := range is {
		if !slices.Contains(was, line) {
			b.WriteString("+ " + line)
		}
	}
	return b.String()
}

// Advises reports whether an error says what to do.
func Advises(text string) bool {
	for _, advice := range []string{"name ", "choose ", "remove ", "move ", "--replace", "--force", "make room", "rotate"} {
		if strings.Contains(text, advice) {
			return true
		}
	}
	return false
}
