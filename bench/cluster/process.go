package cluster

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	// startTime bounds how long a process may take until it listens; a balancer
	// loads all items first.
	startTime = 5 * time.Minute
	// endTime is how long one may take to end by itself.
	endTime = 20 * time.Second
)

// process is a child and what it prints.
type process struct {
	name  string
	cmd   *exec.Cmd
	log   *os.File
	lines chan string
	ended chan struct{} // closed when it has ended
}

// start starts a part; its log goes to a file of the cluster's directory.
func (c *Cluster) start(name string, args ...string) (*process, error) {
	log, err := os.Create(filepath.Join(c.cfg.Dir, name+".log"))
	if err != nil {
		return nil, err
	}
	p := &process{name: name, log: log, cmd: exec.Command(c.cfg.Program, args...),
		lines: make(chan string, 64), ended: make(chan struct{})}
	p.cmd.Stderr = log
	p.cmd.SysProcAttr = dieWithParent()
	stdout, err := p.cmd.StdoutPipe()
	if err == nil {
		started := make(chan error)
		c.begin <- func() { started <- p.cmd.Start() }
		err = <-started
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", name, err), log.Close())
	}
	go p.watch(stdout)
	c.processes = append(c.processes, p)
	return p, nil
}

// watch reads what the process prints until it ends.
func (p *process) watch(stdout io.Reader) {
	defer close(p.ended)
	defer close(p.lines)
	text := bufio.NewScanner(stdout)
	for text.Scan() {
		select {
		case p.lines <- text.Text():
		default: // not all of so many lines are read
		}
	}
	_ = p.cmd.Wait() // that it has ended says enough; its log says why
}

// wait waits for a line with this prefix and returns the rest of it.
func (p *process) wait(ctx context.Context, patience time.Duration, prefix string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("%s does not say %q: %w; see %s", p.name, strings.TrimSpace(prefix), ctx.Err(), p.log.Name())
		case line, ok := <-p.lines:
			if !ok {
				return "", fmt.Errorf("%s ended at its start: %s", p.name, tail(p.log.Name()))
			}
			if rest, ok := strings.CutPrefix(line, prefix); ok {
				return rest, nil
			}
		}
	}
}

// tail is the end of a log.
func tail(name string) string {
	raw, err := os.ReadFile(name)
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(raw[max(0, len(raw)-500):]))
}

func (p *process) term() { _ = p.cmd.Process.Signal(syscall.SIGTERM) } // it may have ended

// stop waits for a process that was asked to end, and kills it if it does not.
func (p *process) stop() error {
	var err error
	select {
	case <-p.ended:
	case <-time.After(endTime):
		err = fmt.Errorf("%s does not end by itself", p.name)
		_ = p.cmd.Process.Kill() // it may end at last
		<-p.ended
	}
	return errors.Join(err, p.log.Close())
}
