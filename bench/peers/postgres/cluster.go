package postgres

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"adshard/bench/peers/server"
	"adshard/fault"
)

// startTime bounds the time until the server answers.
const startTime = time.Minute

// cluster is a separate PostgreSQL server that only this user can reach,
// through a unix socket.
type cluster struct {
	process *server.Process
	data    string // its data directory
	sockets string // the directory of the socket
}

// start makes a cluster in dir, with settings as in postgresql.conf, and starts
// its server.
func start(ctx context.Context, dir string, settings []string) (*cluster, error) {
	bin, err := programs()
	if err != nil {
		return nil, err
	}
	user, err := server.Unprivileged("postgres", "nobody")
	if err != nil {
		return nil, err
	}
	c := &cluster{data: filepath.Join(dir, "data")}
	if err := c.initialise(bin, dir, user); err != nil {
		return nil, err
	}
	if c.sockets, err = server.SocketDir(user); err != nil {
		return nil, err
	}
	args := []string{"-D", c.data, "-k", c.sockets, "-c", "listen_addresses="}
	for _, s := range settings {
		args = append(args, "-c", s)
	}
	c.process, err = server.Start(server.Config{
		Name: "PostgreSQL", Program: filepath.Join(bin, "postgres"), Args: args,
		Log: filepath.Join(dir, "log"), User: user, Orphan: syscall.SIGQUIT,
	})
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(c.sockets))
	}
	if err := c.ready(ctx); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// initialise makes the data directory, which belongs to the user.
func (c *cluster) initialise(bin, dir string, user *server.User) error {
	if err := user.Own(c.data); err != nil {
		return err
	}
	p, err := server.Start(server.Config{
		Name: "initdb", Program: filepath.Join(bin, "initdb"),
		Args: []string{"-D", c.data, "-U", "bench", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"},
		Log:  filepath.Join(dir, "initdb.log"), User: user, Orphan: syscall.SIGKILL,
	})
	if err != nil {
		return err
	}
	return p.Wait()
}

// programs returns the directory of the server's programs. Debian keeps them by
// version, other systems in the PATH.
func programs() (string, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres") // the pattern is valid
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		found = append(found, filepath.Join(dir, "postgres"))
	}
	for _, program := range found {
		if _, err := os.Stat(program); err == nil {
			return filepath.Dir(program), nil
		}
	}
	return "", fault.Newf(fault.Unavailable, "postgres: find", "PostgreSQL is not installed: apt-get install postgresql")
}

// ready waits until the server answers.
func (c *cluster) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		conn, err := c.connect(ctx)
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-c.process.Ended():
			return c.process.Failure(errors.New("it ended at its start"))
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-again.C:
		}
	}
}

// connect opens a connection, which is a process of the server.
func (c *cluster) connect(ctx context.Context) (*pgx.Conn, error) {
	cfg, err := pgx.ParseConfig("user=bench dbname=postgres sslmode=disable host=" + quoted(c.sockets))
	if err != nil {
		return nil, err
	}
	return pgx.ConnectConfig(ctx, cfg)
}

func quoted(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}

// close ends the server. The caller removes the directory of its data.
func (c *cluster) close() error {
	return errors.Join(c.process.Stop(syscall.SIGINT), os.RemoveAll(c.sockets))
}
