package measure

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strings"
)

// Machine describes the machine on which figures were measured: processor,
// cores, memory, system, Go.
func Machine() string {
	return fmt.Sprintf("%s, %d cores, %s memory, %s, %s", field("/proc/cpuinfo", "model name", "unknown processor"),
		runtime.NumCPU(), field("/proc/meminfo", "MemTotal", "unknown"),
		strings.Trim(field("/etc/os-release", "PRETTY_NAME", runtime.GOOS), `"`), runtime.Version())
}

// field returns the value of the first line "name: value" or "name=value" of a
// file, or `otherwise` if there is none.
func field(file, name, otherwise string) string {
	f, err := os.Open(file)
	if err != nil {
		return otherwise
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		line := lines.Text()
		if at := strings.IndexAny(line, ":="); at > 0 && strings.TrimSpace(line[:at]) == name {
			return strings.TrimSpace(line[at+1:])
		}
	}
	return otherwise
}
