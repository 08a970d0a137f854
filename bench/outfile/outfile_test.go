package outfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adshard/fault"
)

func file(t *testing.T, name, text string) string {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestCheckRefuses: what could not be written, or would destroy what is read, is
// refused with the flag and the path; nothing is left behind or changed.
func TestCheckRefuses(t *testing.T) {
	dir := t.TempDir()
	input := file(t, filepath.Join(dir, "queries.txt"), "a\n")
	link := filepath.Join(dir, "link")
	if err := os.Symlink(input, link); err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	for want, outputs := range map[string][]Output{
		"it is a directory":        {{"--json", dir}},
		"there is no directory":    {{"--json", at("none/r.json")}},
		"is not a directory":       {{"--json", at("queries.txt/r.json")}},
		"reads that file":          {{"--json", input}},
		"--html " + link:           {{"--html", link}},
		"--json writes that file":  {{"--json", at("r")}, {"--html", filepath.Join(dir, ".", "r")}},
		"no file can be made in /": {{"--json", "/proc/r.json"}},
	} {
		err := Check([]string{input, "", at("not there")}, outputs...)
		if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), outputs[len(outputs)-1].Flag+" ") {
			t.Errorf("%v: %v, want %q", outputs, err, want)
		}
	}
	if err := Check([]string{input}, Output{"--json", at("r.json")}, Output{"--html", ""}, Output{"--points", os.DevNull}); err != nil {
		t.Error(err)
	}
	if all, err := os.ReadDir(dir); err != nil || len(all) != 2 {
		t.Errorf("left behind: %v, %v", all, err)
	}
}

// TestWriteIsWholeOrNotAtAll: after an error what was there stays and nothing
// lies beside it.
func TestWriteIsWholeOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	name := file(t, filepath.Join(dir, "page.html"), "before")
	failed := errors.New("half way")
	half := func(w io.Writer) error {
		_, err := io.WriteString(w, "half")
		return errors.Join(err, failed)
	}
	if err := Write(name, half); !errors.Is(err, failed) {
		t.Error(err)
	}
	read := func() string {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	if read() != "before" {
		t.Errorf("the page is %q", read())
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(name, link); err != nil {
		t.Fatal(err)
	}
	if err := WriteJSON(link, 5); err != nil || read() != "5\n" {
		t.Errorf("%v: %q", err, read())
	}
	if all, err := os.ReadDir(dir); err != nil || len(all) != 2 {
		t.Errorf("left behind: %v, %v", all, err)
	}
	if err := WriteJSON(os.DevNull, 5); err != nil {
		t.Error(err)
	}
}
