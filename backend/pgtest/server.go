// Package pgtest starts PostgreSQL servers for tests, from Debian's programs. A server has a data directory of its
// own and a unix socket, and uses no network unless its settings say so.
//
// Goals: nothing is left behind; a server can be killed and started again. Non-goals: measuring, other systems than
// Linux.
package pgtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	superuser = "postgres"
	patience  = time.Minute // for a start or an end on a busy machine
)

// Server is a PostgreSQL server.
type Server struct {
	// Enter, if not nil, is called on the thread that starts the server, for example to make the thread enter another
	// network and stay there.
	Enter func() error

	bin      string // directory of the programs
	dir      string // of everything that the server keeps, including the socket
	settings []string
	account  *syscall.Credential // nil: the account of this process
	process  *os.Process         // nil if the server is not running
	ended    chan error
}

// New makes a server and does not start it; settings are as in postgresql.conf. It returns an error if PostgreSQL is
// missing: tests of this backend are never skipped.
func New(settings ...string) (*Server, error) {
	s, err := prepare(settings)
	if err != nil {
		return nil, err
	}
	if err := s.run("initdb", "-D", s.data(), "-U", superuser, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"); err != nil {
		return nil, errors.Join(err, s.Remove())
	}
	return s, nil
}

// Standby makes a server that follows s by streaming replication. s must be running.
func (s *Server) Standby() (*Server, error) {
	b, err := prepare(s.settings)
	if err != nil {
		return nil, err
	}
	err = b.run("pg_basebackup", "-D", b.data(), "-d", "postgres:///?host="+s.dir+"&user="+superuser, "-R", "-X", "stream", "-c", "fast", "--no-sync")
	if err != nil {
		return nil, errors.Join(err, b.Remove())
	}
	return b, nil
}

func prepare(settings []string) (*Server, error) {
	bin, err := programs()
	if err != nil {
		return nil, err
	}
	s := &Server{bin: bin, settings: settings}
	if s.account, err = unprivileged(); err != nil {
		return nil, err
	}
	if s.dir, err = os.MkdirTemp("", "pg"); err != nil { // a socket's path must be short
		return nil, err
	}
	if s.account != nil {
		err = os.Chown(s.dir, int(s.account.Uid), int(s.account.Gid))
	}
	return s, err
}

// programs finds the directory of the server's programs, which Debian keeps by version.
func programs() (string, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres") // the pattern is valid
	if path, err := exec.LookPath("postgres"); err == nil {
		found = append(found, path)
	}
	if len(found) == 0 {
		return "", errors.New("PostgreSQL is not installed: run deploy/setup.sh test")
	}
	return filepath.Dir(found[0]), nil
}

// unprivileged returns an account for the server, which refuses to run as root, or nil if this process does not run
// as root.
func unprivileged() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, fmt.Errorf("%w: Debian's package makes it", err)
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, err
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

func (s *Server) command(program string, args ...string) *exec.Cmd {
	c := exec.Command(filepath.Join(s.bin, program), args...)
	c.Dir = s.dir
	// A process group of its own, so that Ctrl-C does not reach it.
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: s.account}
	return c
}

func (s *Server) run(program string, args ...string) error {
	if out, err := s.command(program, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", program, err, bytes.TrimSpace(out))
	}
	return nil
}

// Run runs one of PostgreSQL's programs, such as pg_dump, as the server's account and in a directory that is removed
// with the server.
func (s *Server) Run(program string, args ...string) error { return s.run(program, args...) }

// File writes a file into the server's data directory, for its settings.
func (s *Server) File(name string, content []byte) error {
	path := filepath.Join(s.data(), name)
	err := os.WriteFile(path, content, 0o600)
	if err == nil && s.account != nil {
		err = os.Chown(path, int(s.account.Uid), int(s.account.Gid))
	}
	return err
}

// Start starts the server and returns when it accepts connections. After Kill the server may fail at first, while the
// system still frees the memory of the previous one.
func (s *Server) Start() (err error) {
	for range 5 {
		if err = s.start(); err == nil || s.process != nil {
			return err
		}
		time.Sleep(200 * time.Millisecond)
	}
	return err
}

func (s *Server) start() error {
	args := []string{"-D", s.data(), "-k", s.dir, "-c", "listen_addresses=", "-c", "max_connections=200"}
	for _, set := range s.settings {
		args = append(args, "-c", set)
	}
	c := s.command("postgres", args...)
	c.SysProcAttr.Pdeathsig = syscall.SIGQUIT
	out, err := os.Create(filepath.Join(s.dir, "log"))
	if err != nil {
		return err
	}
	defer out.Close()
	c.Stdout, c.Stderr = out, out
	s.ended = make(chan error, 1)
	started := make(chan error)
	go func() {
		// The system ends the child when the thread that started it ends.
		runtime.LockOSThread()
		var err error
		if s.Enter == nil {
			defer runtime.UnlockOSThread()
		} else {
			err = s.Enter()
		}
		if err == nil {
			err = c.Start()
		}
		started <- err
		if err == nil {
			s.ended <- c.Wait()
		}
	}()
	if err := <-started; err != nil {
		return err
	}
	s.process = c.Process
	return s.ready()
}

func (s *Server) ready() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		c, err := pgx.Connect(ctx, s.URL("postgres"))
		if err == nil {
			return c.Close(ctx)
		}
		select {
		case end := <-s.ended:
			s.process = nil
			text, _ := os.ReadFile(filepath.Join(s.dir, "log"))
			return fmt.Errorf("the server ended: %v: %s", end, text)
		case <-ctx.Done():
			return err
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// stop sends the server a signal and returns when the server has ended.
func (s *Server) stop(signal syscall.Signal) error {
	if s.process == nil {
		return nil
	}
	if err := s.process.Signal(signal); err != nil {
		return err
	}
	select {
	case <-s.ended:
		s.process = nil
		return nil
	case <-time.After(patience):
		return fmt.Errorf("the server does not end by %v", signal)
	}
}

// Kill ends the server and all its processes with SIGKILL, as a crash would. The next Start makes it recover.
func (s *Server) Kill() error {
	if s.process == nil {
		return nil
	}
	if err := s.process.Signal(syscall.SIGSTOP); err != nil { // so that it starts no more processes
		return err
	}
	pid := s.process.Pid
	list, err := os.ReadFile(fmt.Sprintf("/proc/%[1]d/task/%[1]d/children", pid))
	if err != nil {
		return err
	}
	for _, field := range bytes.Fields(list) {
		child, err := strconv.Atoi(string(field))
		if err != nil {
			return err
		}
		_ = syscall.Kill(child, syscall.SIGKILL) // it may have ended
	}
	return s.stop(syscall.SIGKILL)
}

// Promote makes a standby the primary server.
func (s *Server) Promote() error { return s.run("pg_ctl", "promote", "-D", s.data(), "-w") }

// Remove ends the server and removes everything that it kept.
func (s *Server) Remove() error {
	err := s.stop(syscall.SIGINT)
	return errors.Join(err, os.RemoveAll(s.dir))
}

// URL returns the URL of a database on the server and, if a standby may take over, on others.
func (s *Server) URL(database string, others ...*Server) string {
	hosts := s.dir
	for _, o := range others {
		hosts += "," + o.dir
	}
	q := url.Values{"host": {hosts}, "user": {superuser}, "sslmode": {"disable"}}
	return "postgres:///" + database + "?" + q.Encode()
}

// Conninfo returns the primary_conninfo setting for a standby of the server.
func (s *Server) Conninfo() string { return "host=" + s.dir + " user=" + superuser }

// Do runs SQL in a database.
func (s *Server) Do(ctx context.Context, database, sql string) error {
	c, err := pgx.Connect(ctx, s.URL(database))
	if err != nil {
		return err
	}
	defer c.Close(ctx)
	_, err = c.PgConn().Exec(ctx, sql).ReadAll()
	return err
}

// Copy restores a dump of one database as another, with the commands of docs/operations/backup.md.
func (s *Server) Copy(ctx context.Context, from, to string) error {
	if err := s.Do(ctx, "postgres", "CREATE DATABASE "+to); err != nil {
		return err
	}
	dump := filepath.Join(s.dir, to+".dump")
	defer os.Remove(dump)
	if err := s.run("pg_dump", "--schema=adshard*", "-Fc", "-Z0", "-f", dump, s.URL(from)); err != nil {
		return err
	}
	return s.run("pg_restore", "--exit-on-error", "-d", s.URL(to), dump)
}
