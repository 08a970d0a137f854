package cli

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"adshard/internal/outfile"
)

// TestAllThatIsMadeIsItsOwners: whatever the umask, all files and directories that any command or program creates are
// private to their owner, during use and afterwards. A lexicon is an exception, as it has no user's data.
func TestAllThatIsMadeIsItsOwners(t *testing.T) {
	in, thesaurus := file(t, "ads.csv", reportData+"Acme,Shoes,G,eleven words are one more than a keyword may have here now,Broad,1\n"), file(t, "th.dat", "UTF-8\nlamp|1\n(noun)|light\n")
	for _, mask := range []int{0, 0o022} {
		t.Run(fmt.Sprintf("umask %03o", mask), func(t *testing.T) {
			defer syscall.Umask(syscall.Umask(mask))
			dir := t.TempDir()
			words := strings.NewReplacer("DIR", dir, "IN", in, "TH", thesaurus)
			done := func(command string) {
				t.Helper()
				syscall.Umask(mask)
				args := strings.Fields(words.Replace(command))
				if status, _, errOut := run(t, "adshard", args...); status != exitDone && status != exitRejects {
					t.Fatalf("%v: %d %s", args, status, errOut)
				}
				onlyOwners(t, dir, command)
			}
			done("import --db sqlite:DIR/ads.db --rejects DIR/rejects --conflicts DIR/conflicts IN")
			done("lexicon build --thesaurus en=TH --out DIR/lexicon")
			done("barrels build --db sqlite:DIR/ads.db --out DIR/built/here")
			done("cert ca --cluster a --dir DIR/certs/here")
			done("cert issue slave a --dir DIR/certs/here --host 127.0.0.1")
			done("cert rotate slave a --dir DIR/certs/here")
			syscall.Umask(mask)
			_, admin, _, end := startUp(t, strings.Fields(words.Replace("--db sqlite:DIR/ads.db --slaves 2 --data DIR/data/here --collector 127.0.0.1:0 --query-log-file DIR/queries"))...)
			onlyOwners(t, dir, "up")
			done("export --addr " + admin + " --out DIR/export")
			done("export --addr " + admin + " --format editor --out DIR/editor.csv")
			end()
			onlyOwners(t, dir, "up that has ended")
			done("backup --db sqlite:DIR/ads.db --out DIR/saved/here")
			done("restore --from DIR/saved/here --db sqlite:DIR/restored.db")
			done("restore --from DIR/saved/here --db sqlite:DIR/restored.db --replace")
			done("db migrate --from sqlite:DIR/ads.db --to sqlite:DIR/migrated.db")
			done("events erase --db sqlite:DIR/ads.db --advertiser 1")
		})
	}
}

// onlyOwners fails the test if others may read, write or enter anything in a directory.
func onlyOwners(t *testing.T, dir, after string) {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err == nil && path != dir && filepath.Base(path) != "lexicon" {
			all = append(all, path)
		}
		return err
	})
	if err != nil && !strings.Contains(err.Error(), "no such file") {
		t.Fatal(err)
	}
	if open := outfile.Exposed(all); len(open) > 0 {
		t.Fatalf("after %s others may read or write %v", after, open)
	}
}
