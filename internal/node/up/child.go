package up

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"adshard/fault"
)

// child is a child process and the lines that it prints.
type child struct {
	name  string
	cmd   *exec.Cmd
	began time.Time
	// listened is when the child had printed its addresses, from which time on it runs properly.
	listened time.Time
	lines    chan string
	ended    chan struct{} // closed when the process has ended
	err      error         // how it ended; valid once ended is closed
}

// watch reads the lines that the child prints until it ends.
func (p *child) watch(stdout io.Reader) {
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
}

func (p *child) pid() int { return p.cmd.Process.Pid }

// address waits for a line with this prefix and returns the rest of it, which is an address or its
// URL. If the configured address leaves the port to the system, it is replaced by the chosen one.
// If it is empty, address does not wait.
func (p *child) address(ctx context.Context, prefix string, configured *string) (string, error) {
	if *configured == "" {
		return "", nil
	}
	printed, err := p.waitLine(ctx, prefix)
	if _, port, _ := net.SplitHostPort(*configured); err == nil && port == "0" {
		_, address, isURL := strings.Cut(printed, "://")
		if !isURL {
			address = printed
		}
		*configured = address
	}
	return printed, err
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
