package lint

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Names by which files, or parts of them, are compiled for some processors only.
var (
	processorFile = regexp.MustCompile(`(_(386|amd64|arm|arm64|loong64|ppc64le|riscv64|s390x)(_test)?\.go|\.[sS])$`)
	processorGo   = regexp.MustCompile(`(?m)^//go:build .*\b(386|amd64|arm|arm64|loong64|ppc64le|riscv64|s390x)\b`)
	processorC    = regexp.MustCompile(`(?m)^#.*(__x86_64__|__aarch64__|intrin\.h|arm_neon\.h)|\basm\s*(volatile)?\s*\(`)
)

// forSome reports whether a file is compiled, in part or as a whole, for some processors only.
func forSome(name, text string) bool {
	if filepath.Ext(name) == ".go" {
		return processorFile.MatchString(name) || processorGo.MatchString(text)
	}
	return processorFile.MatchString(name) || processorC.MatchString(text)
}

// TestProcessors checks that all code is the same for all processors, so that tests on one are tests of all. A file for
// one processor would need a portable one beside it, and a test that compares their results.
func TestProcessors(t *testing.T) {
	files := 0
	err := filepath.WalkDir("../..", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			if e != nil && (e.Name() == ".git" || e.Name() == "bin" || e.Name() == "testdata") {
				return fs.SkipDir
			}
			return err
		}
		if !strings.Contains(" .go .c .cc .h .s .S ", " "+filepath.Ext(name)+" ") {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if files++; forSome(name, string(text)) {
			t.Errorf("%s is for some processors only", name)
		}
		return nil
	})
	if err != nil || files < 1000 {
		t.Errorf("%d files, %v", files, err)
	}
	for name, text := range map[string]string{
		"a_amd64.go": "", "a_arm64_test.go": "", "a.s": "", "a.go": "//go:build linux && amd64\n\npackage a", "a.c": "#ifdef __x86_64__", "a.h": "#include <immintrin.h>",
	} {
		if !forSome(name, text) {
			t.Errorf("%s %q passes", name, text)
		}
	}
}
