package processtest

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"adshard/internal/node/config"
)

// patience limits every wait in these tests, including on a busy machine.
const patience = 3 * time.Minute

// process is a running part of a cluster.
type process struct {
	t     *testing.T
	name  string
	cmd   *exec.Cmd
	ended chan struct{}
	said  bytes.Buffer // standard error; it may be read when the process has ended

	mu    sync.Mutex
	lines []string
	more  chan struct{} // closed and replaced with each line
}

// start starts this program as a part of a cluster with a configuration.
func start(t *testing.T, command string, cfg any) *process {
	t.Helper()
	return startUnder(t, "", command, cfg)
}

// startUnder is start with a limit on the process, in the syntax of ulimit. With "", the process
// has the limits of this one.
func startUnder(t *testing.T, limit, command string, cfg any) *process {
	t.Helper()
	file, err := os.CreateTemp(t.TempDir(), command+"-*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := config.Write(file, cfg); err != nil {
		t.Fatal(err)
	}
	_ = file.Close()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, name: command, cmd: exec.Command(program, command, "--config", file.Name()),
		ended: make(chan struct{}), more: make(chan struct{})}
	if limit != "" {
		p.cmd = exec.Command("sh", "-c", `ulimit $0 && exec "$@"`, limit, program, command, "--config", file.Name())
	}
	p.cmd.Stderr = io.MultiWriter(os.Stderr, &p.said)
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go p.read(out)
	t.Cleanup(p.stop)
	return p
}

func (p *process) read(out io.Reader) {
	text := bufio.NewScanner(out)
	for text.Scan() {
		p.mu.Lock()
		p.lines = append(p.lines, text.Text())
		close(p.more)
		p.more = make(chan struct{})
		p.mu.Unlock()
	}
	_ = p.cmd.Wait()
	close(p.ended)
}

// line waits for a line with this prefix and returns the rest of the line.
func (p *process) line(prefix string) string {
	p.t.Helper()
	late := time.After(patience)
	for {
		p.mu.Lock()
		lines, more := p.lines, p.more
		p.mu.Unlock()
		for _, l := range lines {
			if rest, ok := strings.CutPrefix(l, prefix); ok {
				return rest
			}
		}
		select {
		case <-more:
		case <-p.ended:
			p.t.Fatalf("%s ended before it said %q; it said %q", p.name, prefix, lines)
		case <-late:
			p.t.Fatalf("%s has not said %q; it said %q", p.name, prefix, lines)
		}
	}
}

// last returns the rest of the newest line with this prefix, or "" if there is none.
func (p *process) last(prefix string) (last string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.lines {
		if rest, ok := strings.CutPrefix(l, prefix); ok {
			last = rest
		}
	}
	return last
}

// kill kills the process with SIGKILL.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}

// freeze stops all threads of the process. On a busy machine this takes a while after the signal.
func (p *process) freeze() {
	p.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = p.cmd.Process.Signal(syscall.SIGCONT) })
	eventually(p.t, "all threads stand still", func() bool {
		threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", p.cmd.Process.Pid))
		for _, file := range threads {
			stat, err := os.ReadFile(file)
			if _, state, ok := strings.Cut(string(stat), ") "); err == nil && ok && !strings.HasPrefix(state, "T") {
				return false
			}
		}
		return len(threads) > 0
	})
}

// goOn ends a freeze.
func (p *process) goOn() {
	p.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		p.t.Fatal(err)
	}
}

// stop ends the process cleanly. If it does not end, the test fails and shows what its goroutines
// are doing.
func (p *process) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
	case <-time.After(patience):
		_ = p.cmd.Process.Signal(syscall.SIGQUIT)
		select {
		case <-p.ended:
		case <-time.After(10 * time.Second):
		}
		p.kill()
		p.t.Errorf("%s does not end:\n%s", p.name, p.said.String())
	}
}

// eventually waits until `ok` returns true.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(3 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("not within %v: %s", patience, what)
}

func dir(t *testing.T, name string) string { return filepath.Join(t.TempDir(), name) }
