package outfile

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// TestExposed: each permission that others have on files and directories is found, also through links, and the
// printed command removes them, whatever the names are.
func TestExposed(t *testing.T) {
	dir := t.TempDir()
	file, store := filepath.Join(dir, "it's $HOME, `id`.db"), filepath.Join(dir, "slave 0")
	inside, link := filepath.Join(store, "000001.log"), filepath.Join(dir, "link")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Mkdir(store, 0o700))
	must(os.WriteFile(file, nil, 0o600))
	must(os.WriteFile(inside, nil, 0o600))
	must(os.Symlink(file, link))
	for _, private := range []fs.FileMode{0o600, 0o700, 0o400} {
		for bit := fs.FileMode(0); bit == 0 || bit <= 0o40; bit = max(1, bit<<1) {
			must(os.Chmod(file, private|bit))
			must(os.Chmod(store, 0o700|bit))
			must(os.Chmod(inside, private|bit))
			var want []string
			if bit != 0 {
				want = []string{file, store, link}
			}
			if got := Exposed([]string{file, filepath.Join(dir, "missing"), store, link, os.DevNull}); !slices.Equal(got, want) {
				t.Errorf("%v: %q, want %q", private|bit, got, want)
			}
		}
	}
	command := Closing(Exposed([]string{file, store}))
	if out, err := exec.CommandContext(t.Context(), "sh", "-c", command).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v %s", command, err, out)
	}
	if left := Exposed([]string{file, store, inside}); len(left) > 0 {
		t.Errorf("%s left %q", command, left)
	}
	if got, want := Closing([]string{"/var/lib/adshard"}), "chmod -R go= /var/lib/adshard"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
