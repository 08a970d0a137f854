package cgroup

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestSettings: what is written, in the words of both versions of control groups.
func TestSettings(t *testing.T) {
	processor := func(root string) (*Group, error) { return Processor(root, "x", 0.25) }
	memory := func(root string) (*Group, error) { return Memory(root, "x", 5000) }
	for _, tt := range []struct {
		version int
		tree    string // of version 1
		create  func(root string) (*Group, error)
		want    map[string]string
	}{
		{1, "cpu", processor, map[string]string{"cpu/x/cpu.cfs_quota_us": "2500", "cpu/x/cpu.cfs_period_us": "10000"}},
		{2, "", processor, map[string]string{"cgroup.subtree_control": "+cpu", "x/cpu.max": "2500 10000"}},
		{1, "memory", memory, map[string]string{"memory/x/memory.limit_in_bytes": "5000"}},
		{2, "", memory, map[string]string{"cgroup.subtree_control": "+memory", "x/memory.max": "5000"}},
	} {
		root := t.TempDir()
		if err := os.MkdirAll(filepath.Join(root, tt.tree), 0o755); err != nil {
			t.Fatal(err)
		}
		g, err := tt.create(root)
		if err != nil || g.Version() != tt.version {
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

// TestPathIn: where a process is, as both versions say it.
func TestPathIn(t *testing.T) {
	const mixed = "4:memory:/a/b\n3:cpu,cpuacct:/c:d\n0::/e\n"
	for _, tt := range []struct {
		controller string
		version    int
		want       string
	}{{"memory", 1, "/a/b"}, {"cpu", 1, "/c:d"}, {"memory", 2, "/e"}, {"pids", 1, ""}} {
		if got := pathIn(mixed, tt.controller, tt.version); got != tt.want {
			t.Errorf("%s, version %d: %q, want %q", tt.controller, tt.version, got, tt.want)
		}
	}
}

// limited makes a group with a limit, or skips the test.
func limited(t *testing.T, bytes uint64) *Group {
	t.Helper()
	g, err := Memory(Root, fmt.Sprintf("adbench-test-%d", os.Getpid()), bytes)
	if err != nil {
		t.Skipf("a limit on memory needs the right to make a cgroup: %v", err)
	}
	t.Cleanup(func() {
		if err := g.Remove(); err != nil {
			t.Error(err)
		}
	})
	return g
}

// TestMemoryBoundsFiles: of a file that is larger than the limit, a process in the group has no more
// in memory than the limit, as the kernel counts it; and what it has is counted for the group.
func TestMemoryBoundsFiles(t *testing.T) {
	const limit, size = 8 << 20, 24 << 20
	g := limited(t, limit)
	path := filepath.Join(t.TempDir(), "data")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(make([]byte, size)); err != nil {
		t.Fatal(err)
	}
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
		t.Fatal(err)
	}
	// The shell waits for a line until it is in the group; then it reads twice.
	c := exec.CommandContext(t.Context(), "sh", "-c", `read go && cat "$0" "$0" >/dev/null && echo done && read end`, path)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if err := g.Add(c.Process.Pid); err != nil {
		t.Error(err)
	}
	fmt.Fprintln(in, "go")
	if _, err := fmt.Fscanln(out, new(string)); err != nil {
		t.Error(err)
	}
	files, err := g.Files()
	if err != nil || files == 0 || files > limit {
		t.Errorf("%d bytes of files are in memory with a limit of %d: %v", files, limit, err)
	}
	if most := peak(t, g); most > limit || most < limit/2 {
		t.Errorf("at most %d bytes were used with a limit of %d", most, limit)
	}
	fmt.Fprintln(in, "end")
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}

// peak is the most that a group has used.
func peak(t *testing.T, g *Group) uint64 {
	t.Helper()
	file := map[int]string{1: "memory.max_usage_in_bytes", 2: "memory.peak"}[g.Version()]
	raw, err := os.ReadFile(filepath.Join(g.dir, file))
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(raw)), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestEnter: this process is in the group until it leaves, and then where it was.
func TestEnter(t *testing.T) {
	before, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		t.Skipf("no control groups: %v", err)
	}
	g := limited(t, 1<<40)
	leave, err := g.Enter()
	if err != nil {
		t.Fatal(err)
	}
	if inside, err := os.ReadFile("/proc/self/cgroup"); err != nil || pathIn(string(inside), "memory", g.Version()) != "/"+filepath.Base(g.dir) {
		t.Errorf("inside: %s %v", inside, err)
	}
	if err := leave(); err != nil {
		t.Fatal(err)
	}
	if after, err := os.ReadFile("/proc/self/cgroup"); err != nil || string(after) != string(before) {
		t.Errorf("%s, before %s; %v", after, before, err)
	}
}
