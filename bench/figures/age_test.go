package figures

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"adshard/fault"
)

// repository is a git repository whose commits have fixed authors and dates.
type repository struct {
	t   *testing.T
	dir string
}

func (r *repository) git(args ...string) string {
	r.t.Helper()
	c := exec.Command("git", append([]string{"-C", r.dir, "-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"}, args...)...)
	c.Env = append(os.Environ(), "GIT_AUTHOR_DATE=2026-01-02T03:04:05Z", "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z", "GIT_CONFIG_GLOBAL=/dev/null")
	out, err := c.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit writes a file and commits it; it returns the new commit.
func (r *repository) commit(name, text string) string {
	r.t.Helper()
	path := filepath.Join(r.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
	r.git("add", "-A")
	r.git("commit", "-q", "-m", "change "+name)
	return r.git("rev-parse", "--short=7", "HEAD")
}

// TestAges: a page is outdated once what it measures has changed, and not before.
func TestAges(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Fatal("git is missing: it is needed to build from the repository")
	}
	r := &repository{t, t.TempDir()}
	r.git("init", "-q")
	r.commit("search/a.go", "1")
	base := r.commit("barrels/a.go", "1")
	r.commit("docs/a.md", "# A\n<!-- measured: commit "+base+"; packages search -->\ntext\n<!-- measured: commit "+base+"; packages barrels search -->\n")
	r.commit("docs/deep/b.html", `<head><meta name="measured" content="commit `+base+`-dirty; packages barrels"/></head>`)
	r.commit("docs/c.md", "<!-- measured: commit unknown; packages barrels -->\n<!-- measured: commit 1234567; packages barrels -->")
	if got := r.ages(); got != "docs/c.md:1 unknown, docs/c.md:2 history" {
		t.Errorf("nothing has changed yet, but: %s", got)
	}
	r.commit("barrels/a_test.go", "tests do not count")
	r.commit("barrels/testdata/x", "nor what they read")
	r.commit("other/a.go", "nor other packages")
	if got := r.ages(); got != "docs/c.md:1 unknown, docs/c.md:2 history" {
		t.Errorf("nothing that counts has changed, but: %s", got)
	}
	r.commit("barrels/deep/a.go", "2")
	last := r.commit("barrels/a.go", "2")
	if got := r.ages(); got != "docs/a.md:4 2, docs/c.md:1 unknown, docs/c.md:2 history, docs/deep/b.html:1 2" {
		t.Errorf("two changes of barrels: %s", got)
	}
	var out bytes.Buffer
	all, err := Ages(t.Context(), r.dir)
	if err != nil {
		t.Fatal(err)
	}
	old, err := WriteAges(&out, all)
	if want := "docs/a.md:4\tcommit " + base + "\t2 commits since, the last: " + last + " 2026-01-02 change barrels/a.go\t(barrels search)\n"; err != nil || old != 4 || !strings.HasPrefix(out.String(), want) {
		t.Errorf("%d old, %v:\n%s\nwant\n%s", old, err, out.String(), want)
	}
	if !strings.HasSuffix(out.String(), "4 of 5 measurements are older than what they measure\n") {
		t.Error(out.String())
	}
	if _, err := Ages(t.Context(), t.TempDir()); !fault.Is(err, fault.Unavailable) {
		t.Errorf("no repository: %v", err)
	}
}

// ages lists the outdated marks and the reasons.
func (r *repository) ages() string {
	r.t.Helper()
	all, err := Ages(r.t.Context(), r.dir)
	if err != nil {
		r.t.Fatal(err)
	}
	var parts []string
	for i := range all {
		a := &all[i]
		if !a.Old() {
			continue
		}
		why := fmt.Sprint(a.Changes)
		switch {
		case strings.Contains(a.Why, "know its commit"):
			why = "unknown"
		case strings.Contains(a.Why, "history"):
			why = "history"
		}
		parts = append(parts, fmt.Sprintf("%s:%d %s", a.Page, a.Line, why))
	}
	return strings.Join(parts, ", ")
}

// TestPagesAreMarked: every page of experiments says what it measured, and no two
// pages have the same title.
func TestPagesAreMarked(t *testing.T) {
	root := filepath.Join("..", "..")
	all, err := Marks(root)
	if err != nil {
		t.Fatal(err)
	}
	has := make(map[string]bool)
	for _, m := range all {
		has[m.Page] = true
		for _, p := range m.Packages {
			if strings.HasPrefix(p, "/") || strings.Contains(p, "..") {
				t.Errorf("%s:%d: package %s is not a directory of the repository", m.Page, m.Line, p)
			}
		}
		if len(m.Packages) == 0 || m.Commit == "" {
			t.Errorf("%s:%d: the mark has no commit or no packages", m.Page, m.Line)
		}
	}
	pages, err := filepath.Glob(filepath.Join(root, "docs", "experiments", "*.html"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("there are no pages: %v", err)
	}
	titles := make(map[string]string)
	for _, p := range append(pages, filepath.Join(root, "docs", "figures.md")) {
		name := filepath.ToSlash(strings.TrimPrefix(p, root+string(filepath.Separator)))
		if !has[name] {
			t.Errorf("%s does not say which commit it measured", name)
		}
		raw, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(raw), "<title>")
		title, _, _ := strings.Cut(rest, "</title>")
		if other := titles[title]; other != "" {
			t.Errorf("%s and %s are both called %q", name, other, title)
		}
		titles[title] = name
	}
}
