// Package mutation shows that the tests of the promises in docs/architecture.md can
// fail: each of its mutations breaks the product in one way and names the tests that
// must notice.
//
// A mutation is compiled in by the go tool (go test -overlay); no file of the repository changes. Mutations within
// one function, which are nearly all, are built together, and an environment variable selects the one in force. Most
// mutations break pure functions, which have no seam for a broken part and get none for this package.
package mutation

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	root = "../.."
	// tries is how often tests may run until one notices: some draw their cases, or depend on timing.
	tries = 3
)

// TestMutations runs the mutations described in testdata, one at a time: one part of them, or all (see part). A
// description says what the mutation breaks, and names the package (with /…, also those below it) in which the text
// to be replaced occurs exactly once, not counting tests. It also names what must notice: tests, or in
// testdata/cluster a few seeds and kept scenarios of the simulator.
//
//	# what is wrong then
//	package auction
//	test ./auction TestFinish
//	--- old
//	…
//	--- new
//	…
//
// If the simulator no longer notices a mutation after a change of package balance, play more seeds with
// SIM_MUTANT_SEEDS=300 and name those that notice it.
func TestMutations(t *testing.T) {
	if testing.Short() {
		t.Skip("mutations recompile the product: not in -short")
	}
	list := make(map[string]mutation)
	for name, file := range files(t) {
		list[name] = read(t, file)
	}
	list = part(t, list)
	b := build(t, list)
	for name, m := range list {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, failed := b.run(t, name, m)
			for again := 1; again < tries && !failed; again++ {
				out, failed = b.run(t, name, m)
			}
			switch {
			case !failed:
				t.Errorf("%s: %s in %s did not notice", m.remark, m.tests, m.tested)
			case noticed(out) == "":
				t.Errorf("%s: the tests do not run:\n%s", m.remark, out)
			default:
				t.Logf("%s: %s", m.remark, noticed(out))
			}
		})
	}
}

// TestMutationsApply shows quickly which mutations are affected by a change of the source.
func TestMutationsApply(t *testing.T) {
	for name, file := range files(t) {
		t.Run(name, func(t *testing.T) {
			m := read(t, file)
			m.source(t)
			m.namesTests(t)
		})
	}
}

// namesTests checks that the tests that must notice are in the package that is tested: one that is not there notices nothing.
func (m *mutation) namesTests(t *testing.T) {
	t.Helper()
	list, err := filepath.Glob(filepath.Join("../..", m.tested, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	var sources strings.Builder
	for _, file := range list {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sources.Write(text)
	}
	for name := range strings.FieldsFuncSeq(m.tests, func(r rune) bool { return strings.ContainsRune("^$()|/", r) }) {
		if strings.HasPrefix(name, "Test") && !strings.Contains(sources.String(), "\nfunc "+name) {
			t.Errorf("%s has no %s", m.tested, name)
		}
	}
}

// files returns the paths of the descriptions by name.
func files(t *testing.T) map[string]string {
	t.Helper()
	list, err := filepath.Glob("testdata/*/*.txt")
	if err != nil || len(list) == 0 {
		t.Fatalf("no mutations: %v", err)
	}
	out := make(map[string]string, len(list))
	for _, file := range list {
		out[strings.TrimPrefix(strings.TrimSuffix(file, ".txt"), "testdata/")] = file
	}
	return out
}

type mutation struct {
	remark, dir   string
	below         bool   // also search below dir
	tested, tests string // package, and tests in it that must notice
	env           []string
	before, after string
}

func read(t *testing.T, file string) mutation {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut(string(text), "--- old\n")
	// It is enough that a test fails: no shorter example is searched for, and none is kept.
	m := mutation{env: []string{"SIM_SHRINK=0", "RAPID_SHRINKTIME=0s", "RAPID_NOFAILFILE=true"}}
	m.before, m.after, _ = strings.Cut(rest, "\n--- new\n")
	m.after = strings.TrimSuffix(m.after, "\n")
	seeds, more := "", os.Getenv("SIM_MUTANT_SEEDS")
	for line := range strings.Lines(head) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch word {
		case "#":
			m.remark = strings.TrimSpace(m.remark + " " + rest)
		case "package":
			m.dir, m.below = strings.CutSuffix(rest, "/...")
		case "test":
			m.tested, m.tests, _ = strings.Cut(rest, " ")
		case "seeds":
			m.env = append(m.env, "SIM_ONLY="+rest)
			seeds = "TestSeeds|" // which plays hundreds of seeds unless some are named
			m.tested, m.tests = "./balance/sim", "^TestSeeds$"
		case "replay":
			if more != "" {
				seeds = "TestSeeds|"
			}
			m.tested, m.tests = "./balance/sim", `^(`+seeds+`TestReplay)$/^(`+rest+`)\.txt$`
		default:
			t.Fatalf("%s: %q is not known", file, word)
		}
	}
	if more != "" {
		m.env = append(m.env, "SIM_ONLY=", "SIM_FROM=1", "SIM_SEEDS="+more)
	}
	return m
}

// source returns the path and the content of the file with the text to be replaced.
func (m mutation) source(t *testing.T) (file, source string) {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join(root, m.dir))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != dir && !m.below:
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		b, err := os.ReadFile(path)
		if found := strings.Count(string(b), m.before); found > 0 {
			n += found
			file, source = path, string(b)
		}
		return err
	})
	if err != nil || n != 1 || m.before == m.after {
		t.Fatalf("the text to be replaced stands %d times in %s, not once: mend the mutation (%v)", n, m.dir, err)
	}
	return file, source
}

// noticed returns the message of a failed test, or "" if no test ran.
func noticed(out string) string {
	failed := false
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		failed = failed || strings.HasPrefix(line, "--- FAIL: ")
		if failed && strings.Contains(line, ".go:") || strings.HasPrefix(line, "panic: ") {
			return line
		}
	}
	return ""
}
