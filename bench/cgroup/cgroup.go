// Package cgroup limits processes by control groups of Linux, of version 2 or of version 1: the share
// of a processor that they have, or their memory with the pages of files that they read.
//
// Non-goals: groups below that in which this process runs; each is made at the top of the tree, which
// needs the right to do so, root's as a rule.
package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	// Root is where systems have control groups.
	Root = "/sys/fs/cgroup"
	// period is that in which a share of a processor is given: short, so that a process that has used
	// its share waits a few milliseconds only. LeastShare is the least that Linux gives in it.
	period     = 10 * time.Millisecond
	LeastShare = 0.1
)

// Group is a control group of one controller.
type Group struct {
	dir, controller string
	top             tree
}

// tree is where a controller's groups are. Version 1 has a tree for each controller, version 2 one for all.
type tree struct {
	dir     string
	version int
}

func treeOf(root, controller string) tree {
	if own := filepath.Join(root, controller); isDir(own) {
		return tree{own, 1}
	}
	return tree{root, 2}
}

// Processor makes a group whose processes have a share of one processor together. An error says why none
// can be made here.
func Processor(root, name string, share float64) (*Group, error) {
	quota, every := fmt.Sprint(int64(share*float64(period.Microseconds()))), fmt.Sprint(period.Microseconds())
	return create(root, "cpu", name, map[int][]setting{
		1: {{"cpu.cfs_period_us", every}, {"cpu.cfs_quota_us", quota}},
		2: {{"cpu.max", quota + " " + every}},
	})
}

// Memory makes a group whose processes have so many bytes of memory together, for what they allocate and
// for pages of files that they are the first to read. The kernel ends a process that needs more and has no
// such page to give up. An error says why none can be made here.
func Memory(root, name string, bytes uint64) (*Group, error) {
	limit := fmt.Sprint(bytes)
	return create(root, "memory", name, map[int][]setting{
		1: {{"memory.limit_in_bytes", limit}},
		2: {{"memory.max", limit}},
	})
}

// setting is a file of a group with what is written to it.
type setting struct{ file, text string }

func create(root, controller, name string, settings map[int][]setting) (*Group, error) {
	g := &Group{controller: controller, top: treeOf(root, controller)}
	if g.top.version == 2 {
		if err := write(root, "cgroup.subtree_control", "+"+controller); err != nil {
			return nil, err
		}
	}
	g.dir = filepath.Join(g.top.dir, name)
	if err := os.Mkdir(g.dir, 0o755); err != nil {
		return nil, err
	}
	for _, s := range settings[g.top.version] {
		if err := write(g.dir, s.file, s.text); err != nil {
			return nil, errors.Join(err, g.Remove())
		}
	}
	return g, nil
}

// Version is that of the group: 1 or 2.
func (g *Group) Version() int { return g.top.version }

// Add moves a process into the group. What it had allocated or read before is not counted.
func (g *Group) Add(pid int) error { return write(g.dir, "cgroup.procs", fmt.Sprint(pid)) }

// Enter moves this process into the group, and leave moves it back.
func (g *Group) Enter() (leave func() error, err error) {
	const own = "/proc/self/cgroup"
	raw, err := os.ReadFile(own)
	if err != nil {
		return nil, err
	}
	home := filepath.Join(g.top.dir, pathIn(string(raw), g.controller, g.top.version))
	if !isDir(home) {
		home = g.top.dir // a container shows its own group as the top
	}
	pid := os.Getpid()
	return func() error { return write(home, "cgroup.procs", fmt.Sprint(pid)) }, g.Add(pid)
}

// pathIn is the path of a process' group in the tree of a controller, by its /proc/…/cgroup.
func pathIn(groups, controller string, version int) string {
	for line := range strings.Lines(groups) {
		part := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(part) < 3 {
			continue
		}
		if version == 2 && part[0] == "0" {
			return part[2]
		}
		for c := range strings.SplitSeq(part[1], ",") {
			if version == 1 && c == controller {
				return part[2]
			}
		}
	}
	return ""
}

// Files is how many bytes of files are in memory and counted for a group that Memory made.
func (g *Group) Files() (uint64, error) {
	name := "file"
	if g.top.version == 1 {
		name = "cache"
	}
	raw, err := os.ReadFile(filepath.Join(g.dir, "memory.stat"))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(raw)) {
		if is, value, ok := strings.Cut(strings.TrimSpace(line), " "); ok && is == name {
			return strconv.ParseUint(value, 10, 64)
		}
	}
	return 0, fmt.Errorf("%s/memory.stat has no line %s", g.dir, name)
}

// Remove removes the group, in which no process may be.
func (g *Group) Remove() error { return os.Remove(g.dir) }

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func write(dir, file, text string) error {
	return os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644)
}
