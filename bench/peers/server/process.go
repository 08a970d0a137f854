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

// endTime is how long a process may take to end by itself.
const endTime = 20 * time.Second

// Config says what to start.
type Config struct {
	// Name is what errors call it.
	Name string
	// Program is its path, Args are its arguments. It runs in the root directory,
	// which every user may enter.
	Program string
	Args    []string
	// Log is the file for what it prints.
	Log string
	// User runs it; nil: who runs this program.
	User *User
	// Orphan is the signal that ends it at once if this program ends first.
	Orphan syscall.Signal
}

// Process is a child that runs.
type Process struct {
	name  string
	cmd   *exec.Cmd
	log   *os.File
	ended chan struct{} // closed when it has ended
	err   error         // how it ended, to be read after that
}

// Start starts a process. Stop must be called.
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

// run starts the process and waits for its end in one thread, since the system ends a child
// with the thread that made it.
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

// Wait waits for the end of a process that ends by itself; its error holds the
// end of what it printed.
func (p *Process) Wait() error {
	<-p.ended
	defer p.log.Close()
	if p.err != nil {
		return p.Failure(p.err)
	}
	return nil
}

// Failure is an error of kind fault.Unavailable with the end of what the
// process printed.
func (p *Process) Failure(why error) error {
	return fault.Newf(fault.Unavailable, "server: "+p.name, "%w; it last said: %s", why, tail(p.log.Name()))
}

// Stop ends the process with a signal; it is killed if it does not end, and so
// are its children that are left.
func (p *Process) Stop(signal syscall.Signal) error {
	var err error
	_ = p.cmd.Process.Signal(signal) // it may have ended
	select {
	case <-p.ended:
	case <-time.After(endTime):
		err = fmt.Errorf("%s does not end by itself", p.name)
		_ = p.cmd.Process.Kill() // it may end at last
		<-p.ended
	}
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // its group; mostly there is none
	return errors.Join(err, p.log.Close())
}

// tail is the end of a log.
func tail(name string) string {
	raw, err := os.ReadFile(name)
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(raw[max(0, len(raw)-500):]))
}
