package up

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"adshard/internal/node/config"
	"adshard/internal/node/home"
	"adshard/internal/node/slave"
)

const (
	// startTime is how long a child may take to listen when the cluster starts: a balancer loads all items first.
	startTime = 2 * time.Minute
	// endTime is how long a child may take to end after SIGTERM.
	endTime = 10 * time.Second
)

// runProcesses runs each part of a cluster as a child process of the same program. A child that ends is started
// again, unless NoRestart is set; meanwhile the others continue. The children end with this process, however it
// ends.
func runProcesses(ctx context.Context, cfg Config, h *home.Dir, out io.Writer, log *slog.Logger) error {
	dir, err := os.MkdirTemp("", "adshard-up-")
	if err != nil {
		return config.DirError(os.TempDir(), err)
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c, err := newChildren(dir, out, log)
	if err != nil {
		return err
	}
	c.restart = !cfg.NoRestart
	err = c.startAll(ctx, cfg, h)
	if err == nil {
		<-ctx.Done()
	}
	ended := ctx.Err() != nil
	cancel()
	if c.stop(); !c.started {
		h.Release(log)
	}
	if ended {
		return nil
	}
	return err
}

// startAll starts the parts in the order in which they need each other, and prints their lines. It supervises each
// part once it has started it.
func (c *children) startAll(ctx context.Context, cfg Config, h *home.Dir) error {
	b := cfg.balancer(h)
	balancer := balancerPart(&b)
	if err := c.start(ctx, balancer); err != nil {
		return err
	}
	for i := range cfg.Distributors {
		d := cfg.distributor(i, h, b.Listen)
		if err := c.start(ctx, distributorPart(i, &d)); err != nil {
			return err
		}
	}
	if cfg.Collector != "" {
		o := cfg.collector(h)
		if cfg.Admin != "" {
			o.Admin = loopback
		}
		if err := c.start(ctx, collectorPart(&o)); err != nil {
			return err
		}
	}
	slaves, err := c.startSlaves(ctx, &cfg, h, b.Listen)
	if err != nil {
		return err
	}
	m := cfg.master(b.Listen)
	m.Slaves = slaves
	if cfg.Admin != "" {
		m.Admin = loopback // the address in cfg is for the balancer's admin port
	}
	p := masterPart(&m)
	child, err := c.listening(ctx, p)
	if err != nil {
		return err
	}
	c.started = true
	if balancer.admin != "" {
		c.print(fmt.Sprintf("admin %s\n", balancer.admin))
	}
	c.supervise(ctx, p, child)
	return nil
}

// startSlaves starts all slaves, then waits for each, and returns the addresses of those that listen. A slave that
// does not listen does not hold up the others: it is started again, unless no slave listens.
func (c *children) startSlaves(ctx context.Context, cfg *Config, h *home.Dir, balancer string) (addresses []string, err error) {
	configs := make([]slave.Config, cfg.Slaves)
	parts := make([]*part, cfg.Slaves)
	begun := make([]*child, cfg.Slaves)
	for i := range parts {
		configs[i] = cfg.slave(i, h, balancer)
		parts[i] = slavePart(i, &configs[i])
		parts[i].env = config.ShareOfProcessors(cfg.Slaves)
		if begun[i], err = c.begin(parts[i]); err != nil {
			return nil, err
		}
	}
	for i, p := range parts {
		if e := c.await(ctx, p, begun[i]); e == nil {
			addresses = append(addresses, configs[i].Listen)
		} else if err = errors.Join(err, e); ctx.Err() != nil {
			return nil, err
		}
	}
	if len(addresses) == 0 {
		return nil, err
	}
	if err != nil {
		c.log.Error("the cluster starts without a slave", "err", err)
	}
	for i, p := range parts {
		c.supervise(ctx, p, begun[i])
	}
	return addresses, nil
}
