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

// oldestJava is the oldest version of Java that this Lucene supports.
const oldestJava = 21

// program says what is needed to run the Monitor.
type program struct {
	java string // path of the program java
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

// findJava returns the first java that is new enough: that of JAVA_HOME, that
// of the PATH, then those where Debian keeps them.
func findJava(ctx context.Context) string {
	candidates := []string{filepath.Join(os.Getenv("JAVA_HOME"), "bin", "java")}
	if java, err := exec.LookPath("java"); err == nil {
		candidates = append(candidates, java)
	}
	debian, _ := filepath.Glob("/usr/lib/jvm/*/bin/java") // the pattern is valid
	for _, java := range append(candidates, debian...) {
		if version(ctx, java) >= oldestJava {
			return java
		}
	}
	return ""
}

var versionPattern = regexp.MustCompile(`version "(\d+)`)

// version returns a java's major version, or 0 if it does not run.
func version(ctx context.Context, java string) int {
	out, err := exec.CommandContext(ctx, java, "-version").CombinedOutput()
	if m := versionPattern.FindSubmatch(out); err == nil && m != nil {
		n, _ := strconv.Atoi(string(m[1])) // only digits; 0 if there are too many
		return n
	}
	return 0
}

// findJars returns the directory of the jars: lucene beside this program, or in
// the directory bin of the working directory or of one of its parents.
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
