package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"adshard/internal/cli/cmdline"
)

const rejected = editor + "Acme,C,G,a cable,Broad,-1,,\n"

// put writes a file and returns its path.
func put(t *testing.T, path, content string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// files returns the names and contents of the files of a directory.
func files(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, e := range entries {
		data, _ := os.ReadFile(filepath.Join(dir, e.Name())) // a broken link has none
		b.WriteString(e.Name() + ": " + string(data) + "\n")
	}
	return b.String()
}

// TestReportsReplaceNoInput: no report is ever written over an input, the database or a file beside it, whatever the
// path is and even with --force. In these cases the command does nothing else either.
func TestReportsReplaceNoInput(t *testing.T) {
	for _, made := range []bool{true, false} {
		dir := t.TempDir()
		at := func(name string) string { return filepath.Join(dir, name) }
		input, second, db := put(t, at("a.csv"), rejected), put(t, at("b.csv"), editor), at("ads.db")
		if made {
			if status, _, errOut := run(t, "adshard", "import", "--db", "sqlite:"+db, second); status != exitDone {
				t.Fatal(errOut)
			}
			if err := os.Link(db, at("hard.db")); err != nil {
				t.Fatal(err)
			}
			put(t, db+"-wal", "")
		}
		if err := errors.Join(os.Mkdir(at("sub"), 0o700), os.Symlink("../a.csv", at("sub/link")), os.Symlink("link", at("sub/link2")),
			os.Link(second, at("hard.csv")), os.Symlink("ads.db", at("link.db")), os.Symlink(db+"-wal", at("wal")), os.Symlink(".", at("here"))); err != nil {
			t.Fatal(err)
		}
		before := files(t, dir)
		names := []string{input, at("sub/../a.csv"), at("sub/link"), at("sub/link2"), at("hard.csv"), at("here/b.csv"), db, at("link.db"),
			at("here/ads.db"), at("wal"), db + "-wal", db + "-shm", db + "-journal"}
		if made {
			names = append(names, at("hard.db"))
		}
		for _, name := range names {
			for _, flag := range []string{"--rejects", "--conflicts"} {
				for _, url := range []string{"sqlite:" + db, "sqlite:" + at("link.db")} {
					status, out, errOut := run(t, "adshard", "import", "--force", "--db", url, flag, name, input, second)
					if status != exitUsage || out != "" || !strings.Contains(errOut, ": name another ") {
						t.Errorf("%s %s: %d %q %q", flag, name, status, out, errOut)
					}
				}
			}
		}
		if status, _, errOut := run(t, "adshard", "import", "--db", "sqlite:"+db, "--rejects", at("r"), "--conflicts", at("here/r"), input); status != exitUsage ||
			!strings.Contains(errOut, "--rejects writes that file too") {
			t.Errorf("both reports in one file: %d %q", status, errOut)
		}
		if after := files(t, dir); after != before {
			t.Errorf("something was written:\n%.2000s\nbefore:\n%.2000s", after, before)
		}
	}
}

// TestReportsReplaceReports: an existing file is replaced only if it is a report of an earlier import, or with
// --force.
func TestReportsReplaceReports(t *testing.T) {
	dir := t.TempDir()
	input, db := put(t, filepath.Join(dir, "a.csv"), rejected), "sqlite:"+filepath.Join(dir, "ads.db")
	report := filepath.Join(dir, "r.tsv")
	for _, flag := range []string{"--rejects", "--conflicts"} {
		report := report + flag
		for range 2 {
			if status, _, errOut := run(t, "adshard", "import", "--db", db, flag, report, input); status != exitRejects {
				t.Fatalf("%s: %d %q", flag, status, errOut)
			}
		}
	}
	for _, content := range []string{"my notes\n", rejected, "name\t12\tcolumn\tvalue\n"} {
		put(t, report, content)
		if status, _, errOut := run(t, "adshard", "import", "--db", db, "--rejects", report, input); status != exitUsage || !strings.Contains(errOut, "--force") {
			t.Errorf("%q: %d %q", content, status, errOut)
		}
		if data, err := os.ReadFile(report); err != nil || string(data) != content {
			t.Errorf("%q became %q, %v", content, data, err)
		}
	}
	link := filepath.Join(dir, "link")
	if err := errors.Join(os.Symlink("r.tsv", link), os.Chmod(report, 0o640)); err != nil {
		t.Fatal(err)
	}
	if status, _, errOut := run(t, "adshard", "import", "--db", db, "--force", "--rejects", link, input); status != exitRejects {
		t.Errorf("%d %q", status, errOut)
	}
	info, err := os.Lstat(report)
	if data, _ := os.ReadFile(link); err != nil || info.Mode() != 0o640 || !strings.HasPrefix(string(data), input+"\t4\tMax CPC\t") {
		t.Errorf("%v, %v: %q", err, info.Mode(), data)
	}
	if status, _, errOut := run(t, "adshard", "import", "--db", db, "--rejects", dir, input); status != exitUsage || !strings.Contains(errOut, "name a file") {
		t.Errorf("a directory: %d %q", status, errOut)
	}
}

// TestReportOfAnImportThatFails: the rows rejected until then are reported, the earlier conflicts stay, and no
// partial file is left.
func TestReportOfAnImportThatFails(t *testing.T) {
	dir := t.TempDir()
	broken := put(t, filepath.Join(dir, "a.csv"), rejected+"Acme,\"C\"x\n")
	conflicts := put(t, filepath.Join(dir, "c.tsv"), "advertiser\tcampaign\tgroup\tnegative\tnegative_type\tnegative_of\tkeyword\tkeyword_type\n")
	before := files(t, dir)
	rejects := filepath.Join(dir, "r.tsv")
	status, _, errOut := run(t, "adshard", "import", "--db", "sqlite:"+filepath.Join(t.TempDir(), "ads.db"), "--rejects", rejects, "--conflicts", conflicts, broken)
	data, err := os.ReadFile(rejects)
	if status != exitFailed || err != nil || strings.Count(string(data), "\n") != 1 {
		t.Errorf("%d %q: %q, %v", status, errOut, data, err)
	}
	if after := files(t, dir); after != before+"r.tsv: "+string(data)+"\n" {
		t.Errorf("%s\nbefore:\n%s", after, before)
	}
	notOurs := put(t, filepath.Join(t.TempDir(), "x.db"), strings.Repeat("no database\n", 500))
	before = files(t, dir)
	if status, _, _ := run(t, "adshard", "import", "--db", "sqlite:"+notOurs, "--rejects", rejects, broken); status != exitFailed || files(t, dir) != before {
		t.Errorf("%d, with a database that is none:\n%s", status, files(t, dir))
	}
}

// TestReportsToPipes: a pipe is refused before the import begins, since it might never be read; a device can be
// written to.
func TestReportsToPipes(t *testing.T) {
	dir := t.TempDir()
	input, pipe := put(t, filepath.Join(dir, "a.csv"), rejected), filepath.Join(dir, "pipe")
	if err := errors.Join(syscall.Mkfifo(pipe, 0o600), os.Symlink("pipe", filepath.Join(dir, "link"))); err != nil {
		t.Fatal(err)
	}
	db := filepath.Join(dir, "ads.db")
	for _, name := range []string{pipe, filepath.Join(dir, "link")} {
		for _, flag := range []string{"--rejects", "--conflicts"} {
			status, _, errOut := run(t, "adshard", "import", "--db", "sqlite:"+db, flag, name, "--force", input)
			if status != exitUsage || !strings.Contains(errOut, "it is a pipe") || !strings.Contains(errOut, "name a file") || cmdline.Exists(db) {
				t.Errorf("%s %s: %d %q", flag, name, status, errOut)
			}
		}
	}
	if status, _, errOut := run(t, "adshard", "import", "--db", "sqlite:"+db, "--rejects", os.DevNull, input); status != exitRejects {
		t.Errorf("%d %q", status, errOut)
	}
	if info, err := os.Lstat(os.DevNull); err != nil || info.Mode()&os.ModeDevice == 0 {
		t.Errorf("%v, %v", info, err)
	}
}

// TestForceReplacesNoDatabase: --force replaces no database, not even one other than that of the import.
func TestForceReplacesNoDatabase(t *testing.T) {
	dir := t.TempDir()
	input := put(t, filepath.Join(dir, "a.csv"), editor)
	other := filepath.Join(dir, "other.db")
	if status, _, errOut := run(t, "adshard", "import", "--db", "sqlite:"+other, input); status != exitDone {
		t.Fatal(errOut)
	}
	was := files(t, dir)
	status, _, errOut := run(t, "adshard", "import", "--db", "sqlite:"+filepath.Join(dir, "ads.db"), "--rejects", other, "--force", input)
	if status != exitUsage || !strings.Contains(errOut, "is a database") || files(t, dir) != was {
		t.Errorf("%d %q", status, errOut)
	}
}
