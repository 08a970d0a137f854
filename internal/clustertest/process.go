package clustertest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"adshard/internal/cli"
)

// Patience is the time limit of every wait for a process.
const Patience = 3 * time.Minute

// asCLI is the environment variable that makes this program behave as adshard.
const asCLI = "CLUSTERTEST_CLI"

// BePart runs a part of a cluster and ends the process if this program was started as one (COMMAND --config FILE) or
// by Adshard. TestMain must call it first.
func BePart() {
	if os.Getenv(asCLI) != "" {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
		defer stop()
		os.Exit(cli.Main(ctx, "adshard", os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
	}
	if len(os.Args) != 4 || os.Args[2] != "--config" {
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	os.Exit(cli.Main(ctx, os.Args[1], os.Args[2:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}

// Adshard runs a command of adshard until it ends, or kills it when ctx is done.
func Adshard(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, "/proc/self/exe", args...)
	cmd.Env = append(os.Environ(), asCLI+"=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("adshard %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return nil
}

// Process is one process of a cluster. It can be killed and started again.
type Process struct {
	// Command is the part of the cluster: balancer, slave and so on.
	Command string
	// Programs is the directory of the program to run, whose name is Command; empty means this program. It is read at
	// the next Start.
	Programs string
	// Under is the beginning of the command line, such as a program that enters another network; it may be empty. Log
	// is a file to which its standard error is appended. If Log is empty, only the end is kept, for errors. Both are
	// read at the next Start.
	Under []string
	Log   string

	t      *testing.T
	config string // file
	ready  string // prefix of the line that is printed when the process is ready

	mu    sync.Mutex
	cmd   *exec.Cmd
	ended chan struct{}
}

// NewProcess writes the configuration of a process, which ends with the test. The process is ready when it has
// printed a line with the prefix `ready`.
func NewProcess(t *testing.T, command, name, ready string, config map[string]any) *Process {
	t.Helper()
	p := &Process{t: t, Command: command, config: filepath.Join(t.TempDir(), name+".yaml"), ready: ready}
	if err := p.Configure(config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	return p
}

// Configure replaces the configuration, for the next Start.
func (p *Process) Configure(config map[string]any) error {
	text, err := yaml.Marshal(config)
	if err != nil {
		return err
	}
	return os.WriteFile(p.config, text, 0o600)
}

// tail keeps the end of what a process writes to its standard error.
type tail struct{ text []byte }

func (w *tail) Write(text []byte) (int, error) {
	const most = 4096
	w.text = append(w.text, text...)
	w.text = slices.Delete(w.text, 0, max(0, len(w.text)-most))
	return len(text), nil
}

// String returns the kept text. It may be called only after the process has ended.
func (w *tail) String() string { return string(w.text) }

// Start starts the process and waits until it is ready.
func (p *Process) Start() error {
	ready, err := p.Begin()
	if err != nil {
		return err
	}
	return ready()
}

// Begin starts the process. The returned function waits until it is ready.
func (p *Process) Begin() (ready func() error, err error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	line := append(slices.Clone(p.Under), program, p.Command, "--config", p.config)
	if p.Programs != "" {
		line = append(slices.Clone(p.Under), filepath.Join(p.Programs, p.Command), "--config", p.config)
	}
	cmd := exec.Command(line[0], line[1:]...)
	said := new(tail)
	cmd.Stderr = said
	log := (*os.File)(nil)
	if p.Log != "" {
		if log, err = os.OpenFile(p.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
			return nil, err
		}
		cmd.Stderr = io.MultiWriter(said, log)
	}
	if os.Getenv("AUDIT_LOG") != "" {
		cmd.Stderr = os.Stderr
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	ended, printed, started := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		// The system ends a child when the thread that started it ends.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer log.Close() // if log is nil, the error has no reader
		err := cmd.Start()
		started <- err
		if err != nil {
			return
		}
		p.read(out, printed)
		_ = cmd.Wait()
		close(ended)
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	p.mu.Lock()
	p.cmd, p.ended = cmd, ended
	p.mu.Unlock()
	return func() error {
		select {
		case <-printed:
			return nil
		case <-ended:
			return fmt.Errorf("%s: %v before it was ready: %s", p.Command, cmd.ProcessState, said)
		case <-time.After(Patience):
			return fmt.Errorf("%s: not ready within %v: %w", p.Command, Patience, os.ErrDeadlineExceeded)
		}
	}, nil
}

// read closes printed when the process says that it is ready, and then reads the rest.
func (p *Process) read(out io.Reader, printed chan struct{}) {
	text := bufio.NewScanner(out)
	for text.Scan() {
		if strings.HasPrefix(text.Text(), p.ready) {
			close(printed)
			break
		}
	}
	_, _ = io.Copy(io.Discard, out)
}

// Changed returns the configuration of the process with another value for a key.
func (p *Process) Changed(t *testing.T, key string, value any) map[string]any {
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

// Pid returns the process id of the newest start, or 0 if there was none.
func (p *Process) Pid() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return 0
	}
	return p.cmd.Process.Pid
}

// Signal sends the process a signal.
func (p *Process) Signal(s syscall.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cmd.Process.Signal(s)
}

// Running reports whether the process was started and has not ended.
func (p *Process) Running() bool {
	p.mu.Lock()
	ended := p.ended
	p.mu.Unlock()
	if ended == nil {
		return false
	}
	select {
	case <-ended:
		return false
	default:
		return true
	}
}

// Kill ends the process like kill -9.
func (p *Process) Kill() {
	p.mu.Lock()
	cmd, ended := p.cmd, p.ended
	p.mu.Unlock()
	if cmd != nil {
		_ = cmd.Process.Kill()
		<-ended
	}
}

// Stop ends the process gracefully.
func (p *Process) Stop() {
	p.mu.Lock()
	cmd, ended := p.cmd, p.ended
	p.mu.Unlock()
	if cmd == nil {
		return
	}
	_ = cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-ended:
	case <-time.After(Patience):
		p.t.Errorf("%s does not end", p.Command)
		p.Kill()
	}
}
