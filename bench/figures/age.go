package figures

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"adshard/fault"
)

// Mark is a page's statement of where its figures come from. Markdown has it in a comment,
// <!-- measured: commit C; packages P Q -->, HTML in a meta element named measured
// (page.Mark).
type Mark struct {
	// Page is relative to the repository, Line is the line of the mark.
	Page string
	Line int
	// Commit is what was measured, Packages are the directories whose changes make the figures
	// outdated.
	Commit   string
	Packages []string
}

// Age is a mark compared with the history.
type Age struct {
	Mark
	// Changes is the number of later commits that have changed the packages, tests aside; Last
	// is the newest of them with its date and subject. Why, if not "", says why they cannot be
	// counted.
	Changes   int
	Last, Why string
}

// Old reports whether the figures are, or may be, older than the last change of what they
// measure.
func (a *Age) Old() bool { return a.Changes > 0 || a.Why != "" }

var (
	marked = regexp.MustCompile(`(?:<!-- measured: |<meta name="measured" content=")commit ([^;"]*); packages ([^">]*?)(?:"/?>| -->)`)
	commit = regexp.MustCompile(`^[0-9a-f]{7,40}(-dirty)?$`)
)

// Marks reads the pages below docs/ of a repository, by path and line.
func Marks(root string) (out []Mark, err error) {
	err = filepath.WalkDir(filepath.Join(root, "docs"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".md" && filepath.Ext(path) != ".html" {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		for _, at := range marked.FindAllSubmatchIndex(raw, -1) {
			out = append(out, Mark{
				Page: filepath.ToSlash(name), Line: 1 + bytes.Count(raw[:at[0]], []byte("\n")),
				Commit: string(raw[at[2]:at[3]]), Packages: strings.Fields(string(raw[at[4]:at[5]])),
			})
		}
		return nil
	})
	slices.SortStableFunc(out, func(a, b Mark) int {
		return cmp.Or(cmp.Compare(a.Page, b.Page), cmp.Compare(a.Line, b.Line))
	})
	return out, err
}

// Ages compares the marks of a repository's pages with its history up to HEAD. It returns
// fault.Unavailable if git cannot be run there.
func Ages(ctx context.Context, root string) ([]Age, error) {
	if _, err := git(ctx, root, "rev-parse", "--verify", "HEAD"); err != nil {
		return nil, fault.Newf(fault.Unavailable, "figures: ages", "%s is not a repository with a commit: %w", root, err)
	}
	all, err := Marks(root)
	if err != nil {
		return nil, err
	}
	out := make([]Age, 0, len(all))
	for _, m := range all {
		out = append(out, ageOf(ctx, root, m))
	}
	return out, ctx.Err()
}

func ageOf(ctx context.Context, root string, m Mark) Age {
	a := Age{Mark: m}
	of := strings.TrimSuffix(m.Commit, "-dirty")
	switch {
	case !commit.MatchString(m.Commit):
		a.Why = "the page does not know its commit"
		return a
	case len(m.Packages) == 0:
		a.Why = "the page names no packages"
		return a
	}
	if _, err := git(ctx, root, "merge-base", "--is-ancestor", of, "HEAD"); err != nil {
		a.Why = "the commit is not in the history of HEAD"
		return a
	}
	args := append([]string{"log", "--format=%h %as %s", of + "..HEAD", "--"}, m.Packages...)
	log, err := git(ctx, root, append(args, ":(exclude)*_test.go", ":(exclude)*/testdata/*", ":(exclude)*.md")...)
	if err != nil {
		a.Why = err.Error()
		return a
	}
	lines := bufio.NewScanner(strings.NewReader(log))
	for lines.Scan() {
		if a.Changes == 0 {
			a.Last = lines.Text()
		}
		a.Changes++
	}
	return a
}

// git runs git in a repository and returns what it prints.
func git(ctx context.Context, root string, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "git", append([]string{"-C", root}, args...)...).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && len(exit.Stderr) > 0 {
		return "", fmt.Errorf("git %s: %s", args[0], strings.TrimSpace(string(exit.Stderr)))
	}
	return string(out), err
}

// WriteAges lists the pages with outdated figures and returns the number of outdated marks.
func WriteAges(w io.Writer, all []Age) (old int, err error) {
	for i := range all {
		a := &all[i]
		if !a.Old() {
			continue
		}
		old++
		why := a.Why
		if why == "" {
			why = fmt.Sprintf("%d commits since, the last: %s", a.Changes, a.Last)
		}
		if _, err := fmt.Fprintf(w, "%s:%d\tcommit %s\t%s\t(%s)\n", a.Page, a.Line, a.Commit, why, strings.Join(a.Packages, " ")); err != nil {
			return old, err
		}
	}
	_, err = fmt.Fprintf(w, "%d of %d measurements are older than what they measure\n", old, len(all))
	return old, err
}
