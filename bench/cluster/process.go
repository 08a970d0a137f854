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
	// startTime bounds the time until a process listens; a balancer loads all
	// items first.
	startTime = 5 * time.Minute
	// endTime bounds the time that a process takes to end by itself.
	endTime = 20 * time.Second
)

// process is a child and what it prints.
type process struct {
	name  string
	cmd   *exec.Cmd
	log   *os.File
	lines chan string
	ended chan struct{} // closed when the process has ended
}

// start starts a process of the cluster. Its log goes to a file in the
// cluster's directory.
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
		default: // the buffer is full: not all of so many lines are read
		}
	}
	_ = p.cmd.Wait() // it is enough that the process has ended; its log says why
}

// wait waits for a line with this prefix and returns the rest of the line.
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

// tail returns the end of a log.
func tail(name string) string {
	raw, err := os.ReadFile(name)
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(raw[max(0, len(raw)-500):]))
}

func (p *process) term() { _ = p.cmd.Process.Signal(syscall.SIGTERM) } // the process may have ended

// stop waits for a process that was asked to end, and kills it if it takes too
// long.
func (p *process) stop() error {
	var err error
	select {
	case <-p.ended:
	case <-time.After(endTime):
		err = fmt.Errorf("%s does not end by itself", p.name)
		_ = p.cmd.Process.Kill() // it may have ended by now
		<-p.ended
	}
	return errors.Join(err, p.log.Close())
}
