package measure

import (
	"regexp"
	"runtime/debug"
	"testing"
)

func TestCommit(t *testing.T) {
	info := &debug.BuildInfo{Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef"}, {Key: "vcs.modified", Value: "false"}}}
	if got := stamped(info); got != "0123456" {
		t.Errorf("commit %q", got)
	}
	info.Settings[1].Value = "true"
	if got := stamped(info); got != "0123456-dirty" {
		t.Errorf("commit %q", got)
	}
	if got := stamped(&debug.BuildInfo{}); got != "" {
		t.Errorf("a program without a stamp is of commit %q", got)
	}
	if Commit() == "" {
		t.Error("no commit, and not unknown either")
	}
}

func TestLoad(t *testing.T) {
	if got := Load(); got != Unknown && !regexp.MustCompile(`^[0-9.]+ [0-9.]+ [0-9.]+$`).MatchString(got) {
		t.Errorf("load %q", got)
	}
}
