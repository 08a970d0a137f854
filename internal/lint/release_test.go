package lint

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// checkout makes a repository of the scripts that make releases, with a changelog and one commit, and returns a function
// that runs a command in it.
func checkout(t *testing.T, changelog string) func(name string, args ...string) (string, error) {
	t.Helper()
	dir := t.TempDir()
	run := func(name string, args ...string) (string, error) {
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "VERSION=", "COMMIT=", "SOURCE_DATE_EPOCH=", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
			"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@localhost", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@localhost",
			"GIT_AUTHOR_DATE=2026-11-23T12:00:00Z", "GIT_COMMITTER_DATE=2026-11-23T12:00:00Z")
		out, err := cmd.CombinedOutput()
		return strings.TrimSpace(string(out)), err
	}
	for _, name := range []string{"deploy/release.sh", "deploy/packages/build.sh"} {
		text, err := os.ReadFile("../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "CHANGELOG.md"), []byte(changelog), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"commit", "-q", "-m", "first"}} {
		if out, err := run("git", args...); err != nil {
			t.Fatal(out)
		}
	}
	return run
}

// TestPackagesVersion: a build has the version of the changelog's first heading if its commit has that tag; otherwise
// one that dpkg sorts before it.
func TestPackagesVersion(t *testing.T) {
	run := checkout(t, "# Changes\n\n## 1.2.0 (2026-11-23)\n\n- new\n\n## 1.1.0 (2026-10-01)\n")
	version := func() string {
		out, err := run("deploy/packages/build.sh", "--version")
		if err != nil {
			t.Fatal(out)
		}
		return out
	}
	between := version()
	if !strings.HasPrefix(between, "1.2.0~20261123120000.") {
		t.Errorf("between releases: %s", between)
	}
	for _, older := range []string{"1.1.0+deb12", between + "+deb12"} {
		for _, newer := range []string{"1.2.0+deb12", "1.2.0+deb13", "1.2.0+deb12+rocksdb11"} {
			if out, err := run("dpkg", "--compare-versions", older, "lt", newer); err != nil {
				t.Errorf("%s does not come before %s: %s", older, newer, out)
			}
		}
	}
	if _, err := run("dpkg", "--compare-versions", "1.2.0+deb12", "lt", "1.2.0+deb13"); err != nil {
		t.Error("packages are not upgraded with the system")
	}
	if out, err := run("git", "tag", "v1.2.0"); err != nil {
		t.Fatal(out)
	}
	if got := version(); got != "1.2.0" {
		t.Errorf("at the tag: %s", got)
	}
}

// TestReleaseRefuses: nothing is built of a version that the changelog does not describe, that is another commit's, or
// of files that no commit has.
func TestReleaseRefuses(t *testing.T) {
	run := checkout(t, "# Changes\n\n## 1.2.0 (2026-11-23)\n\n- new\n")
	refused := func(version, want string) {
		t.Helper()
		if out, err := run("deploy/release.sh", version); err == nil || !strings.Contains(out, want) {
			t.Errorf("%q: %v, %q, want %q", version, err, out, want)
		}
		if out, err := run("ls", "bin"); err == nil {
			t.Errorf("%q: files were made: %s", version, out)
		}
	}
	refused("", "usage:")
	refused("v1.2.0", "usage:")
	refused("1.2.1", "CHANGELOG.md begins with '## 1.2.0 (2026-11-23)'")
	refused("1.2.0.1", "usage:")
	if out, err := run("touch", "another"); err != nil {
		t.Fatal(out)
	}
	refused("1.2.0", "commit your changes first")
	for _, args := range [][]string{{"tag", "v1.2.0"}, {"add", "another"}, {"commit", "-q", "-m", "second"}} {
		if out, err := run("git", args...); err != nil {
			t.Fatal(out)
		}
	}
	refused("1.2.0", "v1.2.0 is the tag of another commit")
}
