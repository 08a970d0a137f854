package cluster

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

const (
	// controlGroups is where systems have them.
	controlGroups = "/sys/fs/cgroup"
	// period is that in which a share of a processor is given: short, so that a slave that has used its
	// share waits a few milliseconds only. LeastShare is the least that Linux gives in it.
	period     = 10 * time.Millisecond
	LeastShare = 0.1
)

// Limit lets each slave that runs have no more than a share of one processor from now on, by a control
// group of its own: slaves that share cores then do not help each other out. Stop removes the groups.
// An error says why none can be made here.
func (c *Cluster) Limit(share float64) error {
	for i, pid := range c.SlaveProcesses() {
		dir, err := newGroup(controlGroups, fmt.Sprintf("adbench-%d-%s", os.Getpid(), SlaveName(i)), share)
		if dir != "" {
			c.groups = append(c.groups, dir)
		}
		if err == nil {
			err = write(dir, "cgroup.procs", fmt.Sprint(pid))
		}
		if err != nil {
			return fmt.Errorf("no control group for %s: %w", SlaveName(i), err)
		}
	}
	return nil
}

// SlaveProcesses returns the ids of the slaves' processes.
func (c *Cluster) SlaveProcesses() (ids []int) {
	for _, s := range c.slaves {
		ids = append(ids, s.cmd.Process.Pid)
	}
	return ids
}

// newGroup makes a control group; the directory is returned if it was made, whatever fails behind it. Version 1
// has a tree only for processors, version 2 one for all.
func newGroup(root, name string, share float64) (dir string, err error) {
	quota, every := int64(share*float64(period.Microseconds())), period.Microseconds()
	parent, first := filepath.Join(root, "cpu"), true
	if _, err := os.Stat(parent); err != nil {
		parent, first = root, false
		if err := write(root, "cgroup.subtree_control", "+cpu"); err != nil {
			return "", err
		}
	}
	dir = filepath.Join(parent, name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", err
	}
	if !first {
		return dir, write(dir, "cpu.max", fmt.Sprintf("%d %d", quota, every))
	}
	if err := write(dir, "cpu.cfs_period_us", fmt.Sprint(every)); err != nil {
		return dir, err
	}
	return dir, write(dir, "cpu.cfs_quota_us", fmt.Sprint(quota))
}

func write(dir, file, text string) error {
	return os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644)
}
