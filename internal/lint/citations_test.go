package lint

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	// lineBreak matches a line break within a sentence of a comment or page.
	lineBreak = regexp.MustCompile(`\s*\n\s*(?://|#|>)?\s*`)
	// citation matches a page of docs/spec with the numbers or titles of sections.
	citation = regexp.MustCompile(`\b(serving|design)\.md((?:,? (?:(?:and|to) )?(?:§[0-9][0-9.]*|"[^"\n]+"))+)`)
	section  = regexp.MustCompile(`§[0-9]+(?:\.[0-9]+)*|"[^"]+"`)
	heading  = regexp.MustCompile(`(?m)^#+ (?:(\d+)\. )?(.*)$`)
	numbered = regexp.MustCompile(`(?m)^(\d+)\. `)
	bold     = regexp.MustCompile(`(?m)^\*\*([^*]+?)\.?\*\*`)
)

// TestCitations: every section of the specification that code or a page cites
// is in docs/spec.
func TestCitations(t *testing.T) {
	root := filepath.Join("..", "..")
	have := make(map[string]map[string]bool)
	for _, name := range []string{"serving", "design"} {
		page, err := os.ReadFile(filepath.Join(root, "docs", "spec", name+".md"))
		if err != nil {
			t.Fatal(err)
		}
		have[name] = sections(string(page))
	}
	list := exec.Command("git", "ls-files", "*.go", "*.md", "*.proto", "*.fbs", "*.yaml", "*.sh")
	list.Dir = root
	files, err := list.Output()
	if err != nil {
		t.Fatalf("git ls-files: %v", err)
	}
	checked := 0
	for path := range strings.Lines(string(files)) {
		path = strings.TrimSpace(path)
		text, err := os.ReadFile(filepath.Join(root, path))
		if os.IsNotExist(err) {
			continue // removed, but not committed yet
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cited(string(text)) {
			checked++
			if !have[c.page][c.section] {
				t.Errorf("%s cites %s.md %s, which docs/spec/%s.md does not have", path, c.page, c.section, c.page)
			}
		}
	}
	if checked < 50 {
		t.Errorf("only %d citations found", checked)
	}
}

func TestCitationsBite(t *testing.T) {
	have := sections("# Page\n\n## 1. Words\n1. First\n2. Second\n\n## The core\n\n**Rows of other kinds.** Some\n")
	text := "// as of serving.md §1.2 and §1.3,\n// and (serving.md\n// §2, \"Rows of other kinds\"); design.md, \"The\n// core\", serving.md says more"
	var got []string
	for _, c := range cited(text) {
		got = append(got, fmt.Sprint(c.page, " ", c.section, " ", have[c.section]))
	}
	want := `serving §1.2 true; serving §1.3 false; serving §2 false; serving "Rows of other kinds" true; design "The core" true`
	if strings.Join(got, "; ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "; "), want)
	}
}

type cite struct{ page, section string }

// cited returns the sections that a text cites, even across lines of comments.
func cited(text string) (list []cite) {
	for _, m := range citation.FindAllStringSubmatch(lineBreak.ReplaceAllString(text, " "), -1) {
		for _, s := range section.FindAllString(m[2], -1) {
			list = append(list, cite{m[1], s})
		}
	}
	return list
}

// sections returns the ways in which sections of a page may be cited: a numbered heading as §4, the items of its list
// as §4.1, a title in quotation marks.
func sections(page string) map[string]bool {
	all := make(map[string]bool)
	headings := heading.FindAllStringSubmatchIndex(page, -1)
	for i, h := range headings {
		all[`"`+page[h[4]:h[5]]+`"`] = true
		end := len(page)
		if i+1 < len(headings) {
			end = headings[i+1][0]
		}
		if h[2] < 0 {
			continue
		}
		number := "§" + page[h[2]:h[3]]
		all[number] = true
		for _, item := range numbered.FindAllStringSubmatch(page[h[1]:end], -1) {
			all[number+"."+item[1]] = true
		}
	}
	for _, b := range bold.FindAllStringSubmatch(page, -1) {
		all[`"`+b[1]+`"`] = true
	}
	return all
}
