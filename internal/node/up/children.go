package up

import (
	"context"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"adshard/fault"
	"adshard/internal/node/config"
)

// children are processes of the same program. Two goroutines, each with a thread of its own, start
// them all. Linux ends the children when that thread ends, which is when this process does, and
// they inherit the thread's priority.
type children struct {
	program string
	dir     string // of their configuration files
	log     *slog.Logger
	restart bool // a child that ends is started again
	pauses  pauses
	run     chan func()    // starts the parts that answer queries
	bulk    chan func()    // starts the parts that prepare data, which run on the processor time that is left
	started bool           // all children have listened
	watched sync.WaitGroup // the goroutines of supervise

	mu   sync.Mutex
	out  io.Writer         // under mu
	list map[string]*child // the newest child of each part; under mu
}

func newChildren(dir string, out io.Writer, log *slog.Logger) (*children, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fault.Newf(fault.Internal, "up", "find this program's file: %w", err)
	}
	c := &children{program: program, dir: dir, out: out, log: log, pauses: defaultPauses,
		run: starter(startsChildren), bulk: starter(startsBulk), list: make(map[string]*child)}
	return c, nil
}

// starter returns a channel. A goroutine with a thread of its own runs the functions sent to it,
// until it is closed.
func starter(prepare func()) chan func() {
	run := make(chan func())
	go func() {
		prepare()
		for f := range run {
			f()
		}
	}()
	return run
}

// start starts a part, waits until it listens, and supervises it from then on.
func (c *children) start(ctx context.Context, p *part) error {
	child, err := c.listening(ctx, p)
	if err == nil {
		c.supervise(ctx, p, child)
	}
	return err
}

// listening starts a part and waits until it listens.
func (c *children) listening(ctx context.Context, p *part) (*child, error) {
	child, err := c.begin(p)
	if err != nil {
		return nil, err
	}
	return child, c.await(ctx, p, child)
}

// begin writes the part's configuration and starts a child.
func (c *children) begin(p *part) (*child, error) {
	file := filepath.Join(c.dir, p.name+".yaml")
	if err := config.WriteFile(file, p.config); err != nil {
		return nil, err
	}
	n := &child{name: p.name, cmd: exec.Command(c.program, p.command, "--config", file),
		lines: make(chan string, 16), ended: make(chan struct{}), began: time.Now()}
	n.cmd.Stderr, n.cmd.Env = os.Stderr, p.env
	n.cmd.Env = config.StartedByUp(n.cmd.Environ())
	n.cmd.SysProcAttr = dieWithParent()
	stdout, err := n.cmd.StdoutPipe()
	if err != nil {
		return nil, fault.New(fault.Internal, "up", err)
	}
	started, run := make(chan error), c.run
	if p.bulk {
		run = c.bulk
	}
	run <- func() { started <- n.cmd.Start() }
	if err := <-started; err != nil {
		return nil, fault.Newf(fault.Internal, "up", "start %s: %w", p.name, err)
	}
	c.mu.Lock()
	c.list[p.name] = n
	c.mu.Unlock()
	go n.watch(stdout)
	return n, nil
}

// await waits until the child listens, for at most startTime, and prints its addresses.
func (c *children) await(ctx context.Context, p *part, n *child) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	text, err := n.listens(ctx, p)
	if err == nil {
		c.print(text)
	}
	return err
}

// listens waits until the child listens, and returns the text to print then.
func (n *child) listens(ctx context.Context, p *part) (string, error) {
	text, err := p.listens(ctx, n)
	n.listened = time.Now()
	return text, err
}

func (c *children) print(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, _ = io.WriteString(c.out, text)
}

// stop ends all children. The context of their supervision must be done, so that none is started
// meanwhile.
func (c *children) stop() {
	c.watched.Wait()
	var all sync.WaitGroup
	for _, n := range c.list {
		all.Go(func() { n.stop(c.log) })
	}
	all.Wait()
	close(c.run)
	close(c.bulk)
}
