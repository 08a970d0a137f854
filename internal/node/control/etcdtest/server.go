// Package etcdtest starts clusters of etcd for tests, with Debian's program, temporary directories,
// and ports of the loopback interface unless members have hosts of their own.
//
// Goals: members can be killed, restarted, and restored from a backup; nothing is left behind.
// Non-goals: measuring.
package etcdtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// patience bounds all waits, on a busy machine.
const patience = time.Minute

// Cluster is a cluster of etcd members.
type Cluster struct {
	dir     string
	files   transport.TLSInfo // for the port for clients; empty means without TLS
	members []*member
}

type member struct {
	name, client, peer string   // addresses
	under              []string // the beginning of its command line
	process            *exec.Cmd
	ended              chan struct{}
	said               bytes.Buffer
}

// New makes a cluster with a number of members, and starts it. It returns an error if the program is
// not installed, since tests with etcd must never be skipped.
func New(members int) (*Cluster, error) { return NewTLS(members, "", "", "") }

// NewTLS makes a cluster whose clients need a certificate of a CA that has also issued the members'
// certificate. `ca`, `cert` and `key` are names of PEM files; if they are empty, there is no TLS.
func NewTLS(members int, ca, cert, key string) (*Cluster, error) {
	addresses, err := freeAddresses(2 * members)
	if err != nil {
		return nil, err
	}
	var list []*member
	for i := range members {
		list = append(list, &member{client: addresses[2*i], peer: addresses[2*i+1]})
	}
	return start(list, transport.TLSInfo{TrustedCAFile: ca, CertFile: cert, KeyFile: key})
}

// Host says where a member runs: at an IP address, started by a command line that begins with Under,
// for example a program that enters another network.
type Host struct {
	Address string
	Under   []string
}

// NewOn makes a cluster with one member on each host, at etcd's usual ports, and starts it. The
// files are those of NewTLS.
func NewOn(hosts []Host, ca, cert, key string) (*Cluster, error) {
	var list []*member
	for _, h := range hosts {
		list = append(list, &member{client: net.JoinHostPort(h.Address, "2379"), peer: net.JoinHostPort(h.Address, "2380"), under: h.Under})
	}
	return start(list, transport.TLSInfo{TrustedCAFile: ca, CertFile: cert, KeyFile: key})
}

func start(members []*member, files transport.TLSInfo) (*Cluster, error) {
	dir, err := os.MkdirTemp("", "adshard-etcd-")
	if err != nil {
		return nil, err
	}
	c := &Cluster{dir: dir, files: files, members: members}
	for i, m := range members {
		m.name = fmt.Sprint("etcd-", i)
	}
	if err := c.StartAll(); err != nil {
		return nil, errors.Join(err, c.Remove())
	}
	return c, nil
}

// freeAddresses returns n addresses on which no process listens.
func freeAddresses(n int) (list []string, err error) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close()
		list = append(list, l.Addr().String())
	}
	return list, nil
}

// URL returns the URL of the cluster for Open of package inetcd.
func (c *Cluster) URL() string { return "etcd://" + strings.Join(c.clients(), ",") + "/test" }

func (c *Cluster) clients() (list []string) {
	for _, m := range c.members {
		list = append(list, m.client)
	}
	return list
}

func (c *Cluster) data(i int) string { return filepath.Join(c.dir, c.members[i].name) }

func (c *Cluster) initial() string {
	var list []string
	for _, m := range c.members {
		list = append(list, m.name+"=http://"+m.peer)
	}
	return strings.Join(list, ",")
}

// Start starts a member with its existing data.
func (c *Cluster) Start(i int) error {
	m := c.members[i]
	client := "http://" + m.client
	var secure []string
	if !c.files.Empty() {
		client = "https://" + m.client
		secure = []string{"--client-cert-auth", "--trusted-ca-file", c.files.TrustedCAFile,
			"--cert-file", c.files.CertFile, "--key-file", c.files.KeyFile}
	}
	line := append(slices.Clone(m.under), "etcd", "--name", m.name, "--data-dir", c.data(i), "--log-level", "error",
		"--listen-client-urls", client, "--advertise-client-urls", client,
		"--listen-peer-urls", "http://"+m.peer, "--initial-advertise-peer-urls", "http://"+m.peer,
		"--initial-cluster", c.initial(), "--initial-cluster-token", filepath.Base(c.dir), "--unsafe-no-fsync")
	line = append(line, secure...)
	m.process = exec.Command(line[0], line[1:]...)
	m.process.Stdout, m.process.Stderr = &m.said, &m.said
	m.process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	m.ended = make(chan struct{})
	started, ended, process := make(chan error), m.ended, m.process
	go func() {
		// The system kills the child when the thread that started it ends.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(ended)
		err := process.Start()
		started <- err
		if err == nil {
			_ = process.Wait()
		}
	}()
	if err := <-started; err != nil {
		m.process = nil
		return fmt.Errorf("start etcd (run deploy/setup.sh test): %w", err)
	}
	return nil
}

// wait waits until the cluster answers.
func (c *Cluster) wait() error {
	return c.with(func(ctx context.Context, client *clientv3.Client) error {
		for {
			call, cancel := context.WithTimeout(ctx, time.Second)
			_, err := client.Get(call, "ready")
			cancel()
			if err == nil || ctx.Err() != nil {
				return err
			}
		}
	})
}

func (c *Cluster) with(do func(context.Context, *clientv3.Client) error) error {
	config := clientv3.Config{Endpoints: c.clients(), Logger: zap.NewNop()}
	if !c.files.Empty() {
		var err error
		if config.TLS, err = c.files.ClientConfig(); err != nil {
			return err
		}
	}
	client, err := clientv3.New(config)
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return do(ctx, client)
}

// Kill kills a member with SIGKILL and waits for its end.
func (c *Cluster) Kill(i int) {
	m := c.members[i]
	if m.process == nil {
		return
	}
	_ = m.process.Process.Kill()
	<-m.ended
	m.process = nil
}

// Signal sends a signal to a running member.
func (c *Cluster) Signal(i int, s syscall.Signal) error {
	return c.members[i].process.Process.Signal(s)
}

// Backup copies the cluster's data, and returns the directory with the copy. It kills the members
// meanwhile and restarts them.
func (c *Cluster) Backup() (dir string, err error) {
	dir = filepath.Join(c.dir, "backup")
	for i := range c.members {
		c.Kill(i)
		err = errors.Join(err, os.CopyFS(filepath.Join(dir, c.members[i].name), os.DirFS(c.data(i))))
	}
	return dir, errors.Join(err, c.StartAll())
}

// Restore gives all members the data of a backup.
func (c *Cluster) Restore(dir string) error {
	for i, m := range c.members {
		c.Kill(i)
		if err := errors.Join(os.RemoveAll(c.data(i)), os.CopyFS(c.data(i), os.DirFS(filepath.Join(dir, m.name)))); err != nil {
			return err
		}
	}
	return c.StartAll()
}

// StartAll starts the members that are not running, and returns when the cluster answers.
func (c *Cluster) StartAll() error {
	for i, m := range c.members {
		if m.process != nil {
			continue
		}
		if err := c.Start(i); err != nil {
			return err
		}
	}
	return c.wait()
}

// Remove kills all members and removes their data.
func (c *Cluster) Remove() error {
	for i := range c.members {
		c.Kill(i)
	}
	return os.RemoveAll(c.dir)
}
