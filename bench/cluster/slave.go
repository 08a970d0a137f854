package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"time"

	"adshard/internal/node/httpapi/api"
)

// slave is a running slave.
type slave struct {
	*process
	dir, address string
}

// startSlave starts the i-th slave with a directory.
func (c *Cluster) startSlave(i int, dir, listen string) error {
	p, err := c.start(SlaveName(i), append([]string{"slave", "--name", SlaveName(i), "--dir", dir,
		"--balancer", c.balancer, "--listen", listen, "--admin", loopback}, c.cfg.SlaveFlags...)...)
	if err != nil {
		return err
	}
	s := &slave{process: p, dir: dir}
	if i < len(c.slaves) {
		c.slaves[i] = s
	} else {
		c.slaves, c.Slaves = append(c.slaves, s), append(c.Slaves, "")
	}
	return nil
}

// waitSlave waits until the i-th slave listens.
func (c *Cluster) waitSlave(ctx context.Context, i int) (err error) {
	s := c.slaves[i]
	if c.Slaves[i], err = s.wait(ctx, startTime, "admin "); err != nil {
		return err
	}
	s.address, err = s.wait(ctx, startTime, fmt.Sprintf("slave %d listening ", i))
	return err
}

// SlaveAddress returns the address of the i-th slave for masters and other slaves.
func (c *Cluster) SlaveAddress(i int) string { return c.slaves[i].address }

// Replace ends the i-th slave and starts it at the same address with another directory. It
// returns how long the new process took until answers were complete again or, with replicas,
// until masters may ask it again.
func (c *Cluster) Replace(ctx context.Context, i int, dir string) (time.Duration, error) {
	old := c.slaves[i]
	old.term()
	if err := old.stop(); err != nil {
		return 0, err
	}
	c.processes = slices.DeleteFunc(c.processes, func(p *process) bool { return p == old.process })
	if filepath.Clean(dir) == filepath.Clean(old.dir) {
		return 0, errors.New("the slave is to be replaced on the directory that it has")
	}
	began := time.Now()
	if err := c.startSlave(i, dir, old.address); err != nil {
		return 0, err
	}
	if err := c.waitSlave(ctx, i); err != nil {
		return 0, err
	}
	wait := func() error { return c.complete(ctx) }
	if c.cfg.Replicas > 1 {
		wait = func() error { return c.joined(ctx, i) }
	}
	if err := wait(); err != nil {
		return 0, err
	}
	return time.Since(began), nil
}

// joined waits until the i-th slave has left its shard's set and is again a replica that
// masters ask.
func (c *Cluster) joined(ctx context.Context, i int) error {
	left := false
	return c.slavesAre(ctx, SlaveName(i)+" is asked again", func(list []api.Slave) bool {
		at := slices.IndexFunc(list, func(s api.Slave) bool { return s.Name == SlaveName(i) })
		in := at >= 0 && asked(list[at])
		left = left || !in
		return left && in
	})
}

// Whole waits until masters ask every slave. A cluster serves before that: of two replicas that
// are filled for the first time, the slower one joins later.
func (c *Cluster) Whole(ctx context.Context) error {
	return c.slavesAre(ctx, "all slaves are asked", func(list []api.Slave) bool {
		return len(list) == len(c.slaves) && !slices.ContainsFunc(list, func(s api.Slave) bool { return !asked(s) })
	})
}

// asked reports whether masters ask a slave.
func asked(s api.Slave) bool { return s.Serving && s.WaitsFor == "" }

// slavesAre waits until `wanted` accepts the balancer's list of slaves; `what` describes it for
// errors.
func (c *Cluster) slavesAre(ctx context.Context, what string, wanted func([]api.Slave) bool) error {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Patience)
	defer cancel()
	for {
		var list api.SlaveList
		if err := ask(ctx, http.MethodGet, c.Balancer+"/v1/slaves", nil, &list); err == nil && wanted(list.Slaves) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting until %s: %w", what, ctx.Err())
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// complete waits for a complete answer.
func (c *Cluster) complete(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Patience)
	defer cancel()
	for {
		if answer, err := c.search(ctx); err == nil && answer.Coverage.Complete {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("there is no complete answer: %w", ctx.Err())
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// Scorer returns the id of the model with which the cluster scores candidates, or "" if there
// is none.
func (c *Cluster) Scorer(ctx context.Context) (string, error) {
	answer, err := c.search(ctx)
	return answer.Scorer, err
}

// search asks the master a fixed query.
func (c *Cluster) search(ctx context.Context) (answer api.SearchAnswer, err error) {
	err = ask(ctx, http.MethodGet, c.URL+"/v1/search?q="+url.QueryEscape("usb cable"), nil, &answer)
	return answer, err
}
