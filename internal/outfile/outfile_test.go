package outfile_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"adshard/fault"
	"adshard/internal/outfile"
	"adshard/internal/outfile/outfiletest"
)

func file(t *testing.T, name, text string) string {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

// to returns an output of a kind that begins with "mine".
func to(flag, path string) outfile.Output {
	return outfile.Output{Flag: flag, Path: path, Kind: outfile.Kind{Name: "a file of mine", Is: outfile.Begins("mine")}}
}

// TestCheckRefuses: an output that could not be written, or would destroy an input, is refused with its flag and
// path. Nothing is left behind or changed.
func TestCheckRefuses(t *testing.T) {
	dir := t.TempDir()
	input := file(t, filepath.Join(dir, "queries.txt"), "mine")
	link := filepath.Join(dir, "link")
	if err := os.Symlink(input, link); err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	for want, outputs := range map[string][]outfile.Output{
		"it is a directory":        {to("--json", dir)},
		"there is no directory":    {to("--json", at("none/r.json"))},
		"is not a directory":       {to("--json", at("queries.txt/r.json"))},
		"this command reads":       {to("--json", input)},
		"--html " + link:           {to("--html", link)},
		"--json writes that file":  {to("--json", at("r")), to("--html", filepath.Join(dir, ".", "r"))},
		"no file can be made in /": {to("--json", "/proc/r.json")},
		"the database":             {to("--json", at("new.db-events-shm"))}, // before the database exists
	} {
		kept := append(outfile.Inputs(input, "", "-", at("not there")), outfile.Database(at("new.db"))...)
		err := outfile.Check(kept, outputs...)
		if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), outputs[len(outputs)-1].Flag+" ") {
			t.Errorf("%v: %v, want %q", outputs, err, want)
		}
	}
	if err := outfile.Check(outfile.Inputs(input), to("--json", at("r.json")), to("--html", ""), to("--points", os.DevNull)); err != nil {
		t.Error(err)
	}
	if all, err := os.ReadDir(dir); err != nil || len(all) != 2 {
		t.Errorf("left behind: %v, %v", all, err)
	}
}

// TestNothingIsDestroyed: every file of another kind at a path stays as it is, however an output is written there, and the error says
// what to do.
func TestNothingIsDestroyed(t *testing.T) {
	v := outfiletest.Make(t)
	before := v.State(t)
	refused := func(how, what string, err error) {
		t.Helper()
		if err == nil || !outfiletest.Advises(err.Error()) {
			t.Errorf("%s to %s: %v", how, what, err)
		}
		if now := v.State(t); now != before {
			t.Fatalf("%s to %s changed\n%s\nit was\n%s", how, what, now, before)
		}
	}
	for name, path := range v.Paths {
		o := to("--out", path)
		refused("a file", name, o.WriteBytes([]byte("x")))
		o.Force, o.Forcing = true, "--force"
		if plain := strings.ContainsAny(name, ".") && !strings.ContainsAny(name, "/") && precious(name) == ""; !plain {
			refused("a file with --force", name, o.WriteBytes([]byte("x")))
		}
		o = to("--out", path)
		o.New = true
		refused("a new file", name, o.WriteBytes([]byte("x")))
		log := outfile.Log{Output: to("--log", path), Files: 3}
		_, err := log.Open()
		refused("a log", name, err)
		refused("a rotation", name, log.Rotate())
		if rest, is := strings.CutSuffix(path, ".1"); is {
			log.Path = rest
			_, err := log.Open()
			refused("a log", rest, err)
		}
		_, err = outfile.NewDir(path)
		refused("a new directory", name, err)
	}
	for _, name := range v.Dirs {
		refused("directories", name, outfile.MakeDir(v.Paths[name]))
		refused("directories in", name, outfile.MakeDir(filepath.Join(v.Paths[name], "a", "b")))
	}
	for _, name := range []string{"store", "backup"} {
		refused("files in", name, outfile.CheckDir(v.Paths[name], false))
	}
}

// precious returns the name if Force does not replace that victim either, or "" if it does.
func precious(name string) string {
	if slices.Contains([]string{"notes.txt", "settings.yaml", "report.json", "rejects.tsv", "conflicts.tsv", "lexicon.txt", "queries.log"}, name) {
		return ""
	}
	return name
}

// TestLogsKnowTheirOwn: a file of another kind under any name of a log is neither renamed nor removed, and no other file
// changes.
func TestLogsKnowTheirOwn(t *testing.T) {
	for _, at := range []string{"log", "log.1", "log.2"} {
		dir := t.TempDir()
		for _, name := range []string{"log", "log.1", "log.2"} {
			file(t, filepath.Join(dir, name), "mine: "+name)
		}
		log := outfile.Log{Output: to("--log", filepath.Join(dir, "log")), Files: 3}
		f, err := log.Open()
		if err != nil {
			t.Fatal(err)
		}
		_ = f.Close()
		file(t, filepath.Join(dir, at), "SQLite format 3\x00") // placed there meanwhile
		before := outfiletest.State(t, dir)
		if err := log.Rotate(); err == nil || !strings.Contains(err.Error(), "a database") {
			t.Errorf("%s: %v", at, err)
		}
		if _, err := log.Open(); err == nil {
			t.Errorf("%s: opened", at)
		}
		if now := outfiletest.State(t, dir); now != before {
			t.Errorf("%s: %s\nit was\n%s", at, now, before)
		}
	}
	if _, err := (&outfile.Log{Output: to("--log", os.DevNull), Files: 2}).Open(); fault.KindOf(err) != fault.Invalid {
		t.Errorf("a device: %v", err)
	}
}

// TestModes: a file that is replaced keeps its mode. A new file is private to its owner or has the mode of its kind,
// whatever the umask; the same holds for directories.
func TestModes(t *testing.T) {
	for _, mask := range []int{0, 0o022, 0o777} {
		dir := t.TempDir()
		was := syscall.Umask(mask)
		path, public := filepath.Join(dir, "a"), to("", filepath.Join(dir, "p"))
		public.Kind.Mode = outfile.Public
		log := outfile.Log{Output: to("", filepath.Join(dir, "l"))}
		err := errors.Join(to("", path).WriteBytes([]byte("mine")), public.WriteBytes(nil))
		f, e := log.Open()
		syscall.Umask(was)
		if err := errors.Join(err, e); err != nil {
			if mask == 0o777 { // a log cannot be opened again
				continue
			}
			t.Fatal(err)
		}
		_ = f.Close()
		if err := outfile.MakeDir(filepath.Join(dir, "d", "e")); err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]fs.FileMode{"a": 0o600, "p": 0o644, "l": 0o600 &^ fs.FileMode(mask), "d": 0o700, "d/e": 0o700} {
			if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != want {
				t.Errorf("umask %o: %s: %v, %v", mask, name, info.Mode(), err)
			}
		}
		for _, mode := range []fs.FileMode{0o640, 0o644, 0o600} {
			if err := errors.Join(os.Chmod(path, mode), to("", path).WriteBytes([]byte("mine again"))); err != nil {
				t.Fatal(err)
			}
			if info, err := os.Stat(path); err != nil || info.Mode() != mode {
				t.Errorf("%v became %v, %v", mode, info.Mode(), err)
			}
		}
	}
}

// TestChangedMeanwhile: a file that takes the place of an output while it is written stays.
func TestChangedMeanwhile(t *testing.T) {
	dir := t.TempDir()
	for what, isNew := range map[string]bool{"SQLite format 3\x00": false, "other": false, "mine": true} {
		o := to("", filepath.Join(dir, "out"))
		o.New = isNew
		f, err := o.Create(nil)
		if err != nil {
			t.Fatal(err)
		}
		file(t, o.Path, what)
		before := outfiletest.State(t, dir)
		if err := f.End(nil); err == nil {
			t.Errorf("%q: replaced", what)
		}
		if text, _ := os.ReadFile(o.Path); string(text) != what || strings.Count(before, "\n") != strings.Count(outfiletest.State(t, dir), "\n")+1 {
			t.Errorf("%q: now %q", what, text)
		}
		if err := os.Remove(o.Path); err != nil {
			t.Fatal(err)
		}
	}
}

// TestWriteIsWholeOrNotAtAll: after an error the previous file is unchanged, and no other file is beside it.
func TestWriteIsWholeOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	name := file(t, filepath.Join(dir, "page.html"), "mine")
	failed := errors.New("half way")
	half := func(w io.Writer) error {
		_, err := io.WriteString(w, "half")
		return errors.Join(err, failed)
	}
	if err := to("", name).Write(half); !errors.Is(err, failed) {
		t.Error(err)
	}
	read := func() string {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	if read() != "mine" {
		t.Errorf("the page is %q", read())
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(name, link); err != nil {
		t.Fatal(err)
	}
	if err := to("", link).WriteJSON(5); err != nil || read() != "5\n" {
		t.Errorf("%v: %q", err, read())
	}
	if all, err := os.ReadDir(dir); err != nil || len(all) != 2 {
		t.Errorf("left behind: %v, %v", all, err)
	}
	if err := to("", os.DevNull).WriteJSON(5); err != nil {
		t.Error(err)
	}
}
