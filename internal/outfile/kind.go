package outfile

import (
	"bufio"
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Private is the mode of a file that only its owner can read, and Public that of a file for all users.
const (
	Private fs.FileMode = 0o600
	Public  fs.FileMode = 0o644
)

// Kind is a kind of file that a program writes.
type Kind struct {
	// Name is what one such file is called, with its article, as in "a lexicon".
	Name string
	// Is reports whether a file that is not empty is of this kind. If it is nil, no file is recognised.
	Is func(io.Reader) bool
	// Mode is the mode of a new file; 0 means Private.
	Mode fs.FileMode
}

// headBytes is how many bytes of a file are enough to recognise its kind.
const headBytes = 64 << 10

// Begins returns a function, for Kind.Is, that recognises files that begin with one of some texts.
func Begins(texts ...string) func(io.Reader) bool {
	return func(r io.Reader) bool {
		head := headOf(r)
		for _, t := range texts {
			if bytes.HasPrefix(head, []byte(t)) {
				return true
			}
		}
		return false
	}
}

// FirstLine returns a function, for Kind.Is, that recognises files by their first line, which must end with a line
// break.
func FirstLine(is func(line string) bool) func(io.Reader) bool {
	return func(r io.Reader) bool {
		line, err := bufio.NewReader(io.LimitReader(r, headBytes)).ReadString('\n')
		return err == nil && is(strings.TrimSuffix(line, "\n"))
	}
}

func headOf(r io.Reader) []byte {
	head, _ := io.ReadAll(io.LimitReader(r, headBytes)) // what cannot be read is of no kind
	return head
}

// databaseMagic is the beginning of every SQLite database.
const databaseMagic = "SQLite format 3\x00"

// tokenLine matches a line of a file of tokens.
var tokenLine = regexp.MustCompile(`(?m)^\s*(operator|reader)\s+\S+\s+\S{20,}\s*$`)

// precious returns what a file is if no output of another kind may replace it, or "".
func precious(head []byte) string {
	is := func(texts ...string) bool {
		for _, t := range texts {
			if bytes.HasPrefix(head, []byte(t)) {
				return true
			}
		}
		return false
	}
	switch {
	case is(databaseMagic, "PGDMP"):
		return "a database"
	case is("\x37\x7f\x06\x82", "\x37\x7f\x06\x83", "\x18\xe2\x2d\x00", "\x00\x2d\xe2\x18", "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"):
		return "a part of a database"
	case bytes.Contains(head, []byte("-----BEGIN ")):
		return "a key or a certificate"
	case tokenLine.Match(head):
		return "a file of tokens"
	case is("MANIFEST-"):
		return "a part of a slave's store"
	}
	return ""
}

// aStore describes a directory of RocksDB.
const aStore = "a slave's store"

// holder returns what a directory is if it may have only files of its own, or "".
func holder(dir string) string {
	has := func(names ...string) bool {
		for _, name := range names {
			if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
				return false
			}
		}
		return true
	}
	switch {
	case has("CURRENT", "IDENTITY"), has("adshard.lock"):
		return aStore
	case has("manifest.json", "ads.db"):
		return "a backup"
	}
	return ""
}

// sides are the suffixes of names that belong to a database: those of the files next to it, and of its events.
var sides = []string{"-wal", "-shm", "-journal", "-events"}

// owner returns the database to which a name belongs, whether a file of that name exists or not, or "" if there is
// none.
func owner(path string) string {
	for base := path; ; {
		cut := ""
		for _, side := range sides {
			if b, ok := strings.CutSuffix(base, side); ok {
				cut = b
			}
		}
		if cut == "" {
			return ""
		}
		if base = cut; isDatabase(base) {
			return base
		}
	}
}

// isDatabase reports whether a file may be a database, without opening it. A process that opens and closes a file
// loses SQLite's locks on it; then another program that ends removes the log while it is in use.
func isDatabase(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
