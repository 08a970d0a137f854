package measure

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
)

// Unknown is what Commit and Load return if they do not know the value.
const Unknown = "unknown"

// Commit returns the abbreviated commit from which this program was built, followed by "-dirty"
// if there were changes. A program built without this information (-buildvcs=false) is assumed
// to be in its repository and to be built from the current commit.
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

// stamped returns the commit that the Go tool wrote into the program, or "" if there is none.
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

// Load returns the machine's load averages over 1, 5 and 15 minutes. Read before a measurement,
// they show what else the machine was doing.
func Load() string {
	raw, err := os.ReadFile("/proc/loadavg")
	fields := strings.Fields(string(raw))
	if err != nil || len(fields) < 3 {
		return Unknown
	}
	return strings.Join(fields[:3], " ")
}
