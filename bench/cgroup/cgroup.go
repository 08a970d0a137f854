// Package cgroup limits the share of a processor that processes get, by Linux control groups of
// version 2 or version 1.
//
// Non-goals: groups below the one in which this process runs. Each group is made at the top of
// the tree, which usually needs root.
package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

const (
	// Root is where Linux mounts its control groups.
	Root = "/sys/fs/cgroup"
	// period is the time over which a share of a processor is measured. It is short, so that a
	// process that has used its share waits only a few milliseconds. LeastShare is the smallest
	// share that Linux allows with this period.
	period     = 10 * time.Millisecond
	LeastShare = 0.1
)

// Group is a control group of one controller.
type Group struct {
	dir string
	top tree
}

// tree is the directory of a controller's groups. Version 1 has a tree for each controller,
// version 2 one for all.
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

// Processor makes a group whose processes together get a share of one processor. The error says
// why no group can be made here.
func Processor(root, name string, share float64) (*Group, error) {
	quota, every := fmt.Sprint(int64(share*float64(period.Microseconds()))), fmt.Sprint(period.Microseconds())
	return create(root, "cpu", name, map[int][]setting{
		1: {{"cpu.cfs_period_us", every}, {"cpu.cfs_quota_us", quota}},
		2: {{"cpu.max", quota + " " + every}},
	})
}

// setting is a file of a group and the text to write to it.
type setting struct{ file, text string }

func create(root, controller, name string, settings map[int][]setting) (*Group, error) {
	g := &Group{top: treeOf(root, controller)}
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

// Add moves a process into the group.
func (g *Group) Add(pid int) error { return write(g.dir, "cgroup.procs", fmt.Sprint(pid)) }

// Remove removes the group, which must have no processes.
func (g *Group) Remove() error { return os.Remove(g.dir) }

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func write(dir, file, text string) error {
	return os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644)
}
