package lint

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const binding = "github.com/linxGnu/grocksdb "

// rocksdb runs deploy/rocksdb.sh for a system with the given release and, if not empty, version of an installed RocksDB.
func rocksdb(t *testing.T, release, installed, command string, env ...string) string {
	t.Helper()
	system := t.TempDir()
	files := map[string]string{"etc/os-release": release}
	if major, minor, ok := strings.Cut(installed, "."); ok {
		files["usr/include/rocksdb/version.h"] = "#define ROCKSDB_MAJOR " + major + "\n#define ROCKSDB_MINOR " + minor + "\n#define ROCKSDB_PATCH 1\n"
	}
	for name, text := range files {
		name = filepath.Join(system, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("../../deploy/rocksdb.sh", command, system) // which is also a directory without such a script
	cmd.Env = slices.Concat(os.Environ(), []string{"ROCKSDB=", "GOFLAGS=-buildvcs=false", "SYSROOT=" + system}, env)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "refused: " + string(out)
	}
	return string(out)
}

const (
	bookworm = "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nVERSION_CODENAME=bookworm\nID=debian\n"
	trixie   = "PRETTY_NAME=\"Debian GNU/Linux 13 (trixie)\"\nVERSION_CODENAME=trixie\nID=debian\n"
	noble    = "PRETTY_NAME=\"Ubuntu 24.04.3 LTS\"\nVERSION_CODENAME=noble\nID=ubuntu\nUBUNTU_CODENAME=noble\n"
	mint     = "PRETTY_NAME=\"Linux Mint 22\"\nVERSION_CODENAME=wilma\nID=linuxmint\nUBUNTU_CODENAME=noble\n"
	jammy    = "PRETTY_NAME=\"Ubuntu 22.04.5 LTS\"\nVERSION_CODENAME=jammy\nID=ubuntu\nUBUNTU_CODENAME=jammy\n"
)

// TestRocksDBIsChosen: before anything is installed, the RocksDB of the release is chosen, and afterwards the one that
// is installed. One that no binding fits is replaced by RocksDB 11. The reason is given.
func TestRocksDBIsChosen(t *testing.T) {
	for _, c := range []struct{ release, installed, env, want string }{
		{bookworm, "", "", "7.8 of Debian GNU/Linux 12 (bookworm), with grocksdb v1.7."},
		{bookworm, "7.8", "", "7.8 of Debian GNU/Linux 12 (bookworm), with grocksdb v1.7."},
		{trixie, "", "", "9.10 of Debian GNU/Linux 13 (trixie), with grocksdb v1.9."},
		{trixie, "9.10", "", "9.10 of Debian GNU/Linux 13 (trixie), with grocksdb v1.9."},
		{noble, "", "", "8.9 of Ubuntu 24.04.3 LTS, with grocksdb v1.8."},
		{mint, "", "", "8.9 of Linux Mint 22, with grocksdb v1.8."},
		{jammy, "", "", "11 compiled here, once: no binding is known here for Ubuntu 22.04.5 LTS, with grocksdb v1.11."},
		{jammy, "6.11", "", "11 compiled here, once: no binding is known here for RocksDB 6.11 of Ubuntu 22.04.5 LTS, with grocksdb v1.11."},
		{"", "", "", "11 compiled here, once: no binding is known here for this system, with grocksdb v1.11."},
		{bookworm, "7.8", "ROCKSDB=11", "11 compiled here, once, as ROCKSDB=11 says, with grocksdb v1.11."},
		{bookworm, "7.8", "ROCKSDB=9", "refused: rocksdb.sh: there is RocksDB 11"},
	} {
		if got := rocksdb(t, c.release, c.installed, "choice", c.env); !strings.HasPrefix(got, c.want) {
			t.Errorf("%q with RocksDB %q installed, %s: %q, want %q", c.release, c.installed, c.env, got, c.want)
		}
	}
	for _, command := range []string{"env", "make"} {
		if got := rocksdb(t, bookworm, "7.8", command); got != "" {
			t.Errorf("%s with RocksDB 7.8, for which go.mod is: %q", command, got)
		}
	}
	// A commit from before this choice.
	if got := rocksdb(t, bookworm, "7.8", "other", "ROCKSDB=11"); got != "" {
		t.Errorf("an earlier commit, with RocksDB 7.8: %q", got)
	}
	if got := rocksdb(t, trixie, "9.10", "other"); !strings.HasPrefix(got, "refused: ") || !strings.Contains(got, "here it is 9.10") {
		t.Errorf("an earlier commit, with RocksDB 9.10: %q", got)
	}
}

// TestBindings: for another RocksDB go reads copies of the go.mod and go.sum files of all modules that require the
// binding. Nothing else in them differs. Make and the shell say the same to go.
func TestBindings(t *testing.T) {
	for release, env := range map[string]string{trixie: "", noble: "", bookworm: "ROCKSDB=11"} {
		dir := t.TempDir()
		name := strings.TrimSpace(rocksdb(t, release, "", "make", env, "ROCKSDB_DIR="+dir))
		settings, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		_, of, _ := strings.Cut(string(settings), "-overlay=")
		of = strings.Fields(of)[0]
		text, err := os.ReadFile(of)
		if err != nil {
			t.Fatal(err)
		}
		var overlay struct{ Replace map[string]string }
		if err := json.Unmarshal(text, &overlay); err != nil {
			t.Fatal(err)
		}
		files := filesOfBinding(t)
		for _, file := range files {
			checkCopy(t, file, overlay.Replace[file])
		}
		for file := range overlay.Replace {
			if own, err := filepath.EvalSymlinks(file); err != nil || !slices.Contains(files, own) {
				t.Errorf("%q: %s is replaced without need", release, file)
			}
		}
		if env == "" && rocksdb(t, release, "", "env", "ROCKSDB_DIR="+dir) != "export GOFLAGS=-buildvcs=false\\ -overlay="+of+"\n" {
			t.Errorf("%q: another environment than make's %q", release, settings)
		}
	}
}

// TestWhiteSpace: a checkout whose name has white space keeps the files that go and make read where names have none,
// and its own go.mod is the one that is replaced.
func TestWhiteSpace(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	system, cache, checkout := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "a b  c")
	if err := os.Symlink(root, checkout); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(system, "etc"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(system, "etc/os-release"), []byte(trixie), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(checkout, "deploy/rocksdb.sh"), "make")
	cmd.Env = append(os.Environ(), "ROCKSDB=", "ROCKSDB_DIR=", "GOFLAGS=-buildvcs=false", "SYSROOT="+system, "XDG_CACHE_HOME="+cache)
	out, err := cmd.CombinedOutput()
	name, inCache := strings.CutPrefix(strings.TrimSpace(string(out)), cache)
	if err != nil || !inCache || strings.ContainsAny(name, " \t") {
		t.Fatalf("%v: %s, want a file in %s", err, out, cache)
	}
	text, err := os.ReadFile(filepath.Join(cache, filepath.Dir(name), "overlay.json"))
	if err != nil || !strings.Contains(string(text), `"`+checkout+`/go.mod"`) {
		t.Errorf("%v: %s, want %s's go.mod", err, text, checkout)
	}
}

// filesOfBinding returns the absolute paths of the go.mod and go.sum files that name the binding.
func filesOfBinding(t *testing.T) (files []string) {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{"", "*", "*/*", "*/*/*"} {
		found, err := filepath.Glob(filepath.Join(root, pattern, "go.[ms][ou][dm]"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range found {
			if text, err := os.ReadFile(file); err != nil {
				t.Fatal(err)
			} else if strings.Contains(string(text), binding) {
				files = append(files, file)
			}
		}
	}
	if len(files) != 6 {
		t.Errorf("%q name the binding: add their modules to overlay() of deploy/rocksdb.sh, and here", files)
	}
	return files
}

// checkCopy compares the lines of a file with those of its copy for another RocksDB.
func checkCopy(t *testing.T, file, replaced string) {
	t.Helper()
	own, err1 := os.ReadFile(file)
	other, err2 := os.ReadFile(replaced)
	if err1 != nil || err2 != nil {
		t.Errorf("%s is replaced by %q: %v, %v", file, replaced, err1, err2)
		return
	}
	split := func(text []byte) (lines, of []string) {
		for line := range strings.Lines(string(text)) {
			if strings.Contains(line, binding) {
				of = append(of, line)
			} else {
				lines = append(lines, line)
			}
		}
		return lines, of
	}
	lines, of := split(own)
	otherLines, otherOf := split(other)
	if !slices.Equal(lines, otherLines) {
		t.Errorf("%s differs from %s in other lines than the binding's", replaced, file)
	}
	if len(of) == 0 || len(of) != len(otherOf) || of[0] == otherOf[0] {
		t.Errorf("%s has %q in place of %q", replaced, otherOf, of)
	}
	if filepath.Ext(file) == ".sum" && (strings.Count(otherOf[0], "h1:") != 1 || !strings.Contains(otherOf[1], "/go.mod h1:")) {
		t.Errorf("%s has no sums of the binding: %q", replaced, otherOf)
	}
}
