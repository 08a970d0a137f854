package cluster

import (
	"os"
	"path/filepath"
	"testing"
)

// TestGroups: a quarter of a processor, in the words of both versions of control groups.
func TestGroups(t *testing.T) {
	for version, want := range []map[string]string{
		{"cpu/x/cpu.cfs_quota_us": "2500", "cpu/x/cpu.cfs_period_us": "10000"},
		{"cgroup.subtree_control": "+cpu", "x/cpu.max": "2500 10000"},
	} {
		root := t.TempDir()
		if version == 0 {
			if err := os.Mkdir(filepath.Join(root, "cpu"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := newGroup(root, "x", 0.25); err != nil {
			t.Fatal(err)
		}
		for file, text := range want {
			if raw, err := os.ReadFile(filepath.Join(root, file)); err != nil || string(raw) != text {
				t.Errorf("version %d, %s: %q, %v", version+1, file, raw, err)
			}
		}
	}
	if dir, err := newGroup(filepath.Join(t.TempDir(), "none"), "x", 0.25); err == nil || dir != "" {
		t.Errorf("without control groups: %q, %v", dir, err)
	}
}
