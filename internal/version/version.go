// Package version says which build a program is, for --version and for the metric adshard_build_info.
//
// Non-goals: versions of protocols and stores, on which programs agree by themselves
// (docs/decisions/023-versions.md).
package version

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
)

// Set by the build of a release, with
//
//	go build -ldflags '-X adshard/internal/version.release=1.2.0 -X adshard/internal/version.commit=…'
var release, commit string

// Build says from what and with what a program was built.
type Build struct {
	// Version is the release, as in CHANGELOG.md. For other builds it is the version that Go gives the module, such
	// as (devel).
	Version string
	// Commit is the revision of the source, or "unknown" if Go was told not to record it.
	Commit string
	// Go is the version of Go, and Platform the operating system and processor.
	Go, Platform string
}

// Current returns the build of this program.
func Current() Build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = new(debug.BuildInfo)
	}
	return buildOf(info, release, commit)
}

// buildOf prefers the values set by a release build.
func buildOf(info *debug.BuildInfo, release, commit string) Build {
	var revision, modified string
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			revision = s.Value
		case "vcs.modified":
			modified = s.Value
		}
	}
	if revision != "" && modified == "true" {
		revision += "-modified"
	}
	return Build{
		Version: cmp.Or(release, info.Main.Version, "unknown"), Commit: cmp.Or(commit, revision, "unknown"),
		Go: cmp.Or(info.GoVersion, runtime.Version()), Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
}

// String returns the build on one line, for people.
func (b Build) String() string {
	return fmt.Sprintf("%s (commit %s, %s %s)", b.Version, b.Commit, b.Go, b.Platform)
}
