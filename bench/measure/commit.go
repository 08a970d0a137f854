package measure

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
)

// Unknown is what Commit and Load return where they do not know.
const Unknown = "unknown"

// Commit returns the commit that this program was built from, abbreviated, with "-dirty" behind
// it if there were changes. A program that was built without it (-buildvcs=false) is assumed to
// lie in its repository and to be of its commit.
func Commit() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		if c := stamped(info); c != "" {
			return c
		}
	}
	program, err := os.Executable()
	if err != nil {
		return Unknown
	}
	out, err := exec.Command("git", "-C", filepath.Dir(program), "describe", "--always", "--dirty", "--abbrev=7", "--exclude=*").Output()
	if err != nil {
		return Unknown
	}
	return strings.TrimSpace(string(out))
}

// stamped is the commit that the Go tool wrote into the program, or "".
func stamped(info *debug.BuildInfo) string {
	commit, dirty := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && len(s.Value) >= 7:
			commit = s.Value[:7]
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "-dirty"
		}
	}
	if commit == "" {
		return ""
	}
	return commit + dirty
}

// Load returns the machine's load averages over 1, 5 and 15 minutes. Taken
// before a measurement, they show what else the machine did.
func Load() string {
	raw, err := os.ReadFile("/proc/loadavg")
	fields := strings.Fields(string(raw))
	if err != nil || len(fields) < 3 {
		return Unknown
	}
	return strings.Join(fields[:3], " ")
}
