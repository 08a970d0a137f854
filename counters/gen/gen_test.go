package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestGenerated tests that the code of the example is what the generator makes now.
func TestGenerated(t *testing.T) {
	code, test, err := generate("votes/question.go")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]byte{"votes/question_counters.go": code, "votes/question_counters_test.go": test} {
		if got, err := os.ReadFile(name); err != nil || string(got) != string(want) {
			t.Errorf("%s is not what its source gives: run go generate ./counters/... (%v)", name, err)
		}
	}
}

const before = `package p

import (
	"math"
	"net/url"
	tm "time"
	"time"

	"github.com/jackc/pgx/v5"
)

var (
	_ url.URL
	_ pgx.Identifier
	_ tm.Time
	_ = math.Pi
)

`

const functions = `
func add(a, b int) int { return a + b }
func inc(a int) int { return a + 1 }
func dec(a int) int { return a - 1 }
func less(a, b int) int { return a - b }
func highest(a, b int) int { return max(a, b) }
func seven(a int) int { return max(a, 7) }
func later(a, b time.Time) time.Time { if a.After(b) { return a }; return b }
func now(time.Time) time.Time { return time.Unix(1, 0).UTC() }
`

// generated writes a package with structs into a directory of this module, so that it can be built,
// and runs the generator there.
func generated(t *testing.T, structs string) (dir string, err error) {
	t.Helper()
	dir, err = os.MkdirTemp(".", "made-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.WriteFile(filepath.Join(dir, "p.go"), []byte(before+structs+functions), 0o600); err != nil {
		t.Fatal(err)
	}
	code, test, err := generate(filepath.Join(dir, "p.go"))
	if err == nil {
		err = errors.Join(os.WriteFile(filepath.Join(dir, "p_counters.go"), code, 0o600), os.WriteFile(filepath.Join(dir, "p_counters_test.go"), test, 0o600))
	}
	return dir, err
}

// TestBuilds tests that generated code builds, in all modes and with types of other packages, and
// that its test shows a counterexample for a function that is not a fold.
func TestBuilds(t *testing.T) {
	dir, err := generated(t, `type A struct {
	Name string `+"`counter:\"key\" json:\"name\"`"+`
	N, M int
	Good int `+"`counter:\"fold=add update=inc,dec neutral=0\"`"+`
	Last time.Time `+"`counter:\"fold=later update=now shards=adaptive\"`"+`
	Links []url.URL `+"`counter:\"group\"`"+`
	Type int `+"`counter:\"fold=highest update=seven neutral=math.MinInt\"`"+`
	Range []tm.Time `+"`counter:\"group\"`"+`
	Tables []pgx.Identifier `+"`counter:\"group\"`"+`
}
type B struct {
	ID int `+"`counter:\"key\"`"+`
	Bad int `+"`counter:\"fold=less update=inc shards=3\"`"+`
}
`)
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "test", "./"+dir).CombinedOutput()
	for _, want := range []string{"TestBCounters", "Bad: counters: it does not hold that the neutral value is neutral: fold(0, 1) = -1, but 1"} {
		if err == nil || !strings.Contains(string(out), want) {
			t.Errorf("no %q in what the test says: %v\n%s", want, err, out)
		}
	}
	if strings.Contains(string(out), "TestACounters") {
		t.Errorf("A obeys the laws, but:\n%s", out)
	}
}

func TestPackageName(t *testing.T) {
	for path, want := range map[string]string{
		"time": "time", "net/url": "url", "github.com/jackc/pgx/v5": "pgx", "github.com/jackc/pgx/v5/pgtype": "pgtype",
		"gopkg.in/yaml.v3": "yaml", "example.com/v2": "example.com", "k8s.io/api/core/v1": "v1",
	} {
		if got := packageName(path); got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
}

// TestWrong tests that all errors in all tags are reported at once, each with its position.
func TestWrong(t *testing.T) {
	const key = "\tID int `counter:\"key\"`\n"
	for structs, says := range map[string]string{
		"type A struct{ ID int }\n":                                                                     "p.go: no struct has a field with a tag counter",
		"type A struct {\n\tN int `counter:\"fold=add update=inc\"`\n}\n":                               `p.go:19:6: A needs a field with the tag counter:"key"`,
		"type A struct {\n" + key + "}\n":                                                               "A needs a field",
		"type A struct {\n" + key + key + "\tN int `counter:\"fold=add update=inc\"`\n}\n":              "A has two keys, ID and ID",
		"type A struct {\n" + key + "\tN int `counter:\"fold=add\"`\n}\n":                               "p.go:21:2: N: the tag needs fold= and update=",
		"type A struct {\n" + key + "\tN int `counter:\"fold=none update=inc\"`\n}\n":                   `N: the package has no function "none"`,
		"type A struct {\n" + key + "\tN int `counter:\"fold=inc update=add\"`\n}\n":                    "N: inc takes 2 of int and returns one",
		"type A struct {\n" + key + "\tN int64 `counter:\"fold=add update=inc\"`\n}\n":                  "N: add takes 2 of int64 and returns one",
		"type A struct {\n" + key + "\tN int `counter:\"fold=add update=inc shards=0\"`\n}\n":           "shards=0: 1 to 1024, or adaptive",
		"type A struct {\n" + key + "\tN int `counter:\"fold=add update=inc neutral=)\"`\n}\n":          "N: neutral=) is not an expression",
		"type A struct {\n" + key + "\tN int `counter:\"fold=add update=inc shrads=3\"`\n}\n":           `N: unknown word "shrads=3"`,
		"type A struct {\n" + key + "\tN int `counter:\"group\"`\n}\n":                                  "N: a group is a slice",
		"type A struct {\n" + key + "\tN, M int `counter:\"fold=add update=inc\"`\n}\n":                 "a tag counter belongs to one field",
		"type A struct {\n" + key + "\tN int `counter:\"fold=add update=inc,inc\"`\n}\n":                "N: there would be two methods Inc",
		"type A[T any] struct {\n" + key + "\tN int `counter:\"fold=add update=inc\"`\n}\n":             "no type parameters",
		"type A struct {\n" + key + "\tN int `counter:\"fold=x update=y\"`\n\tM int `counter:\"z\"`\n}": "z",
	} {
		_, err := generated(t, structs)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s%v\nwant %s", structs, err, says)
		}
	}
	if err := run(""); err == nil || !strings.Contains(err.Error(), "go generate") {
		t.Errorf("without a file: %v", err)
	}
}
