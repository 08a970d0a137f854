package cluster

import (
	"fmt"
	"os"

	"adshard/bench/cgroup"
)

// Limit restricts each running slave to a share of one processor from now on, with a control
// group of its own, so that slaves that share cores do not help each other out. Stop removes
// the groups. The error says why no group can be made here.
func (c *Cluster) Limit(share float64) error {
	for i, pid := range c.SlaveProcesses() {
		g, err := cgroup.Processor(cgroup.Root, fmt.Sprintf("adbench-%d-%s", os.Getpid(), SlaveName(i)), share)
		if err == nil {
			c.groups = append(c.groups, g)
			err = g.Add(pid)
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
