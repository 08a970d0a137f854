package up

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"adshard/fault"
	"adshard/internal/node/config"
	"adshard/internal/node/home"
)

const (
	// startTime bounds the time until a child listens; a balancer loads all items
	// first.
	startTime = 2 * time.Minute
	// endTime is how long a child may take to end after SIGTERM.
	endTime = 10 * time.Second
)

// runProcesses runs each part of a cluster as a child process of the same
// program. A child that ends is not restarted; the others continue. The children
// end with this process, however it ends.
func runProcesses(ctx context.Context, cfg Config, h *home.Dir, out io.Writer, log *slog.Logger) error {
	dir, err := os.MkdirTemp("", "adshard-up-")
	if err != nil {
		return config.DirError(os.TempDir(), err)
	}
	defer os.RemoveAll(dir)
	c, err := newChildren(dir, log)
	if err != nil {
		return err
	}
	defer func() {
		if c.stop(); !c.started {
			h.Release(log)
		}
	}()
	if err := c.startAll(ctx, cfg, h, out); ctx.Err() == nil {
		return err
	}
	return nil
}

// startAll starts the parts in the order in which they need each other, prints
// their lines and waits for ctx.
func (c *children) startAll(ctx context.Context, cfg Config, h *home.Dir, out io.Writer) error {
	balancer, admin, err := c.startBalancer(ctx, &cfg, h, out)
	if err != nil {
		return err
	}
	if err := c.startDistributors(ctx, &cfg, h, balancer, out); err != nil {
		return err
	}
	slaves, err := c.startSlaves(ctx, &cfg, h, balancer, out)
	if err != nil {
		return err
	}
	master, err := c.startMaster(ctx, &cfg, balancer, slaves, out)
	if err != nil {
		return err
	}
	c.started = true
	if admin != "" {
		fmt.Fprintf(out, "admin %s\n", admin)
	}
	url, err := master.waitLine(ctx, "ready ")
	if err == nil {
		fmt.Fprintf(out, "ready %s\n", url)
		<-ctx.Done()
	}
	return err
}

// startBalancer returns the balancer's address and the URL of its admin port; "":
// it has none.
func (c *children) startBalancer(ctx context.Context, cfg *Config, h *home.Dir, out io.Writer) (address, admin string, err error) {
	b, err := c.start(ctx, "balancer", "balancer", cfg.balancer(h))
	if err != nil {
		return "", "", err
	}
	if admin, err = b.line(ctx, "admin ", cfg.Admin == ""); err != nil {
		return "", "", err
	}
	if address, err = b.line(ctx, "balancer ready ", false); err == nil {
		fmt.Fprintf(out, "balancer pid %d ready %s\n", b.pid(), address)
	}
	return address, admin, err
}

func (c *children) startDistributors(ctx context.Context, cfg *Config, h *home.Dir, balancer string, out io.Writer) error {
	for i := range cfg.Distributors {
		own := cfg.distributor(i, h, balancer)
		d, err := c.start(ctx, own.Name, "distributor", own)
		if err != nil {
			return err
		}
		address, err := d.line(ctx, fmt.Sprintf("distributor %d ready ", i), false)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "distributor %d pid %d ready %s\n", i, d.pid(), address)
	}
	return nil
}

// startSlaves starts all slaves, then waits for each; it returns their addresses.
func (c *children) startSlaves(ctx context.Context, cfg *Config, h *home.Dir, balancer string, out io.Writer) (addresses []string, err error) {
	var slaves []*child
	for i := range cfg.Slaves {
		s, err := c.start(ctx, home.StoreName(i), "slave", cfg.slave(i, h, balancer), config.ShareOfProcessors(cfg.Slaves)...)
		if err != nil {
			return nil, err
		}
		slaves = append(slaves, s)
	}
	for i, s := range slaves {
		address, err := s.line(ctx, fmt.Sprintf("slave %d ready ", i), false)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(out, "slave %d pid %d ready %s\n", i, s.pid(), address)
		addresses = append(addresses, address)
	}
	return addresses, nil
}

func (c *children) startMaster(ctx context.Context, cfg *Config, balancer string, slaves []string, out io.Writer) (*child, error) {
	own := cfg.master(balancer)
	own.Slaves = slaves
	if cfg.Admin != "" {
		own.Admin = loopback // cfg's is the balancer's
	}
	m, err := c.start(ctx, "master", "master", own)
	if err != nil {
		return nil, err
	}
	admin, err := m.line(ctx, "admin ", own.Admin == "")
	if err != nil {
		return nil, err
	}
	calls, err := m.line(ctx, "grpc ", own.GRPC == "")
	if err != nil {
		return nil, err
	}
	if _, err := m.line(ctx, "master listening ", false); err != nil {
		return nil, err
	}
	if admin != "" {
		admin = " admin " + admin
	}
	fmt.Fprintf(out, "master pid %d%s\n", m.pid(), admin)
	if calls != "" {
		fmt.Fprintf(out, "grpc %s\n", calls)
	}
	return m, nil
}

// children are processes of the same program. One goroutine with a thread of
// its own starts them all: Linux ends them when that thread ends, which is when
// this process does.
type children struct {
	program string
	dir     string // of their configuration files
	log     *slog.Logger
	begin   chan func()
	list    []*child
	started bool // all of them listen
}

func newChildren(dir string, log *slog.Logger) (*children, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fault.Newf(fault.Internal, "up", "find this program's file: %w", err)
	}
	c := &children{program: program, dir: dir, log: log, begin: make(chan func())}
	go func() {
		lockThread()
		for f := range c.begin {
			f()
		}
	}()
	return c, nil
}

// start writes the part's configuration and starts it, with this process' environment
// if none is given.
func (c *children) start(ctx context.Context, name, command string, cfg any, env ...string) (*child, error) {
	file := filepath.Join(c.dir, name+".yaml")
	if err := config.WriteFile(file, cfg); err != nil {
		return nil, err
	}
	p := &child{name: name, cmd: exec.Command(c.program, command, "--config", file),
		lines: make(chan string, 16), ended: make(chan struct{})}
	p.cmd.Stderr, p.cmd.Env = os.Stderr, env
	p.cmd.SysProcAttr = dieWithParent()
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, fault.New(fault.Internal, "up", err)
	}
	started := make(chan error)
	c.begin <- func() { started <- p.cmd.Start() }
	if err := <-started; err != nil {
		return nil, fault.Newf(fault.Internal, "up", "start %s: %w", name, err)
	}
	c.list = append(c.list, p)
	go p.watch(stdout, c.log)
	return p, ctx.Err()
}

// stop ends all children.
func (c *children) stop() {
	var all sync.WaitGroup
	for _, p := range c.list {
		all.Go(func() { p.stop(c.log) })
	}
	all.Wait()
	close(c.begin)
}
