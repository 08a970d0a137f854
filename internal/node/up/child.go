package up

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"adshard/fault"
)

// child is a process and what it prints.
type child struct {
	name  string
	cmd   *exec.Cmd
	lines chan string
	ended chan struct{} // closed when the process has ended
	err   error         // its end; read after ended
}

// watch reads what the child prints until it ends.
func (p *child) watch(stdout io.Reader, log *slog.Logger) {
	defer close(p.ended)
	defer close(p.lines)
	text := bufio.NewScanner(stdout)
	for text.Scan() {
		select {
		case p.lines <- text.Text():
		default: // no more lines are expected
		}
	}
	p.err = p.cmd.Wait()
	log.Info("a process ended", "name", p.name, "pid", p.pid(), "end", p.cmd.ProcessState.String())
}

func (p *child) pid() int { return p.cmd.Process.Pid }

// line waits for a line with this prefix and returns the rest of it. If absent is
// set, the child prints no such line, and line returns "" at once.
func (p *child) line(ctx context.Context, prefix string, absent bool) (string, error) {
	if absent {
		return "", nil
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	return p.waitLine(ctx, prefix)
}

func (p *child) waitLine(ctx context.Context, prefix string) (string, error) {
	for {
		select {
		case <-ctx.Done():
			return "", fault.Newf(fault.KindOf(ctx.Err()), "up", "%s did not print %q: %w", p.name, strings.TrimSpace(prefix), ctx.Err())
		case line, ok := <-p.lines:
			if !ok {
				<-p.ended
				return "", fault.Newf(fault.Unavailable, "up", "%s ended (%v); its own message is above", p.name, p.err)
			}
			if rest, ok := strings.CutPrefix(line, prefix); ok {
				return rest, nil
			}
		}
	}
}

func (p *child) stop(log *slog.Logger) {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		log.Warn("cannot end a process", "name", p.name, "err", err)
	}
	select {
	case <-p.ended:
	case <-time.After(endTime):
		log.Warn("a process does not end and is killed", "name", p.name, "pid", p.pid())
		_ = p.cmd.Process.Kill()
		<-p.ended
	}
}
