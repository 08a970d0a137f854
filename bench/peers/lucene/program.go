package lucene

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"

	"adshard/fault"
)

// oldestJava is what this Lucene needs.
const oldestJava = 21

// program is what runs the Monitor.
type program struct {
	java string // path of java
	jars string // directory
}

func find(ctx context.Context) (program, error) {
	java := findJava(ctx)
	if java == "" {
		return program{}, fault.Newf(fault.Unavailable, "lucene: find",
			"there is no Java %d or newer, which Lucene 10 needs: install one and set JAVA_HOME", oldestJava)
	}
	jars := findJars()
	if jars == "" {
		return program{}, fault.Newf(fault.Unavailable, "lucene: find",
			"the program bin/lucene/monitor.jar is not built: run deploy/peers.sh")
	}
	return program{java: java, jars: jars}, nil
}

// findJava returns the first java that is new enough: JAVA_HOME's, the PATH's,
// then those where Debian keeps them.
func findJava(ctx context.Context) string {
	candidates := []string{filepath.Join(os.Getenv("JAVA_HOME"), "bin", "java")}
	if java, err := exec.LookPath("java"); err == nil {
		candidates = append(candidates, java)
	}
	debian, _ := filepath.Glob("/usr/lib/jvm/*/bin/java") // the pattern is right
	for _, java := range append(candidates, debian...) {
		if version(ctx, java) >= oldestJava {
			return java
		}
	}
	return ""
}

var versionPattern = regexp.MustCompile(`version "(\d+)`)

// version is a java's major version, 0 if it does not run.
func version(ctx context.Context, java string) int {
	out, err := exec.CommandContext(ctx, java, "-version").CombinedOutput()
	if m := versionPattern.FindSubmatch(out); err == nil && m != nil {
		n, _ := strconv.Atoi(string(m[1])) // digits only; too many of them are no number
		return n
	}
	return 0
}

// findJars returns the directory of the jars: lucene beside this program, or in
// bin of the directory it was started in or of one above.
func findJars() string {
	var candidates []string
	if self, err := os.Executable(); err == nil {
		candidates = append(candidates, filepath.Join(filepath.Dir(self), "lucene"))
	}
	dir, err := os.Getwd()
	for err == nil {
		candidates = append(candidates, filepath.Join(dir, "bin", "lucene"))
		if dir == filepath.Dir(dir) {
			break
		}
		dir = filepath.Dir(dir)
	}
	for _, dir := range candidates {
		if _, err := os.Stat(filepath.Join(dir, "monitor.jar")); err == nil {
			return dir
		}
	}
	return ""
}
