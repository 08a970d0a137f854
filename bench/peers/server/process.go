package server

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"adshard/fault"
)

// endTime bounds the time that a process takes to end by itself.
const endTime = 20 * time.Second

// Config says what to start.
type Config struct {
	// Name is the process' name in errors.
	Name string
	// Program is the program's path, Args are its arguments. It runs in the root directory,
	// which every user may enter.
	Program string
	Args    []string
	// Log is the file for the process' output.
	Log string
	// User is the user who runs it; nil: the user of this program.
	User *User
	// Orphan is the signal that the process gets at once if this program ends first.
	Orphan syscall.Signal
}

// Process is a running child.
type Process struct {
	name  string
	cmd   *exec.Cmd
	log   *os.File
	ended chan struct{} // closed when the process has ended
	err   error         // how it ended; read it after that
}

// Start starts a process. The caller must call Stop.
func Start(c Config) (*Process, error) {
	log, err := os.Create(c.Log)
	if err != nil {
		return nil, err
	}
	p := &Process{name: c.Name, cmd: exec.Command(c.Program, c.Args...), log: log, ended: make(chan struct{})}
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = "/", log, log
	p.cmd.SysProcAttr = attributes(c)
	started := make(chan error)
	go p.run(started)
	if err := <-started; err != nil {
		<-p.ended
		return nil, errors.Join(fault.Newf(fault.Unavailable, "server: start", "%s: %w", c.Name, err), log.Close())
	}
	return p, nil
}

// run starts the process and waits for its end in one thread, because the system ends a
// child together with the thread that made it.
func (p *Process) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(p.ended)
	err := p.cmd.Start()
	started <- err
	if err == nil {
		p.err = p.cmd.Wait()
	}
}

// Ended is closed when the process has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Wait waits for the end of a process that ends by itself. The error includes the end of
// its output.
func (p *Process) Wait() error {
	<-p.ended
	defer p.log.Close()
	if p.err != nil {
		return p.Failure(p.err)
	}
	return nil
}

// Failure returns a fault.Unavailable with the end of the process' output.
func (p *Process) Failure(why error) error {
	return fault.Newf(fault.Unavailable, "server: "+p.name, "%w; it last said: %s", why, tail(p.log.Name()))
}

// Stop ends the process with a signal. If the process does not end, it is killed. Any
// children that are left are killed too.
func (p *Process) Stop(signal syscall.Signal) error {
	var err error
	_ = p.cmd.Process.Signal(signal) // it may have ended
	select {
	case <-p.ended:
	case <-time.After(endTime):
		err = fmt.Errorf("%s does not end by itself", p.name)
		_ = p.cmd.Process.Kill() // it may have ended by now
		<-p.ended
	}
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // its process group; mostly it is already gone
	return errors.Join(err, p.log.Close())
}

// tail returns the end of a log.
func tail(name string) string {
	raw, err := os.ReadFile(name)
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(raw[max(0, len(raw)-500):]))
}
