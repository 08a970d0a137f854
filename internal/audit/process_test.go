package audit

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

// patience bounds every wait.
const patience = 60 * time.Second

// part is one process of the cluster; it can be killed and started again.
type part struct {
	t       *testing.T
	command string
	config  string // file
	ready   string // the prefix of the line that says it is ready

	mu    sync.Mutex
	cmd   *exec.Cmd
	ended chan struct{}
	since time.Time
}

// newPart writes the configuration of a process.
func newPart(t *testing.T, command, name, ready string, config map[string]any) *part {
	t.Helper()
	text, err := yaml.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), name+".yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	p := &part{t: t, command: command, config: file, ready: ready}
	t.Cleanup(p.stop)
	return p
}

// tail keeps the last lines of what a process writes to its standard error.
type tail struct{ text []byte }

func (w *tail) Write(text []byte) (int, error) {
	const most = 4096
	w.text = append(w.text, text...)
	w.text = slices.Delete(w.text, 0, max(0, len(w.text)-most))
	return len(text), nil
}

// String may be called after the process has ended.
func (w *tail) String() string { return string(w.text) }

// start starts the process and waits for its line.
func (p *part) start() error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(program, p.command, "--config", p.config)
	said := new(tail)
	cmd.Stderr = said
	if os.Getenv("AUDIT_LOG") != "" {
		cmd.Stderr = os.Stderr
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	ended, ready := make(chan struct{}), make(chan struct{})
	go func() {
		text := bufio.NewScanner(out)
		for text.Scan() {
			if strings.HasPrefix(text.Text(), p.ready) {
				close(ready)
				break
			}
		}
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait()
		close(ended)
	}()
	p.mu.Lock()
	p.cmd, p.ended, p.since = cmd, ended, time.Now()
	p.mu.Unlock()
	select {
	case <-ready:
		return nil
	case <-ended:
		return fmt.Errorf("%v before it was ready: %s", cmd.ProcessState, said)
	case <-time.After(patience):
		return os.ErrDeadlineExceeded
	}
}

// changed is the configuration of the process with another value.
func (p *part) changed(t *testing.T, key string, value any) map[string]any {
	t.Helper()
	text, err := os.ReadFile(p.config)
	if err != nil {
		t.Fatal(err)
	}
	config := make(map[string]any)
	if err := yaml.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	config[key] = value
	return config
}

// signal sends the process a signal.
func (p *part) signal(s syscall.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cmd.Process.Signal(s)
}

// running reports whether the process has not ended.
func (p *part) running() bool {
	p.mu.Lock()
	ended := p.ended
	p.mu.Unlock()
	select {
	case <-ended:
		return false
	default:
		return true
	}
}

// kill is kill -9.
func (p *part) kill() {
	p.mu.Lock()
	cmd, ended := p.cmd, p.ended
	p.mu.Unlock()
	if cmd != nil {
		_ = cmd.Process.Kill()
		<-ended
	}
}

// stop ends the process in order.
func (p *part) stop() {
	p.mu.Lock()
	cmd, ended := p.cmd, p.ended
	p.mu.Unlock()
	if cmd == nil {
		return
	}
	_ = cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-ended:
	case <-time.After(patience):
		p.t.Errorf("%s does not end", p.command)
		p.kill()
	}
}
