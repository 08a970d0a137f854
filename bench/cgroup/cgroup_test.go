package cgroup

import (
	"os"
	"path/filepath"
	"testing"
)

// TestSettings checks what is written to the files of both versions of control
// groups.
func TestSettings(t *testing.T) {
	processor := func(root string) (*Group, error) { return Processor(root, "x", 0.25) }
	for _, tt := range []struct {
		version int
		tree    string // for version 1
		create  func(root string) (*Group, error)
		want    map[string]string
	}{
		{1, "cpu", processor, map[string]string{"cpu/x/cpu.cfs_quota_us": "2500", "cpu/x/cpu.cfs_period_us": "10000"}},
		{2, "", processor, map[string]string{"cgroup.subtree_control": "+cpu", "x/cpu.max": "2500 10000"}},
	} {
		root := t.TempDir()
		if err := os.MkdirAll(filepath.Join(root, tt.tree), 0o755); err != nil {
			t.Fatal(err)
		}
		g, err := tt.create(root)
		if err != nil || g.top.version != tt.version {
			t.Fatalf("%v: %+v, %v", tt.want, g, err)
		}
		for file, text := range tt.want {
			if raw, err := os.ReadFile(filepath.Join(root, file)); err != nil || string(raw) != text {
				t.Errorf("version %d, %s: %q, %v", tt.version, file, raw, err)
			}
		}
		if _, err := tt.create(filepath.Join(root, "none")); err == nil {
			t.Error("a group where there are none")
		}
	}
}
