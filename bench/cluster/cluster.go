package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"adshard/bench/cgroup"
	"adshard/bench/measure"
	"adshard/internal/node/httpapi/api"
	"adshard/internal/outfile"
)

// MaxSlaves is the largest number of slaves that makes sense on one machine.
const MaxSlaves = 64

// Config says what to start.
type Config struct {
	// Program is the path of the program adshard.
	Program string
	// DB is the database's URL, Dir an empty or missing directory for stores and logs.
	DB, Dir string
	// Strategy places the groups; it runs once each Interval. Options are the strategy's, by name.
	Strategy, Order      string
	Options              map[string]string
	Interval             time.Duration
	Slaves, Distributors int
	// Replicas is how many slaves hold each slice; 0: one.
	Replicas int
	// SlaveFlags are further flags of each slave, MasterFlags of the master.
	SlaveFlags, MasterFlags []string
	// Patience bounds the first fill. Progress, if not nil, is called each second with the number
	// of groups that the slaves hold.
	Patience time.Duration
	Progress func(groups float64)
}

// Cluster is a running cluster.
type Cluster struct {
	// URL is the address for queries; Balancer, Master and Slaves are admin addresses.
	URL, Balancer, Master string
	Slaves                []string
	// Filled is the time from the start of the first process until a complete answer was possible.
	Filled time.Duration
	// Listening is the time until the balancer listened, Loaded the memory that it held then.
	Listening time.Duration
	Loaded    measure.Memory

	cfg       Config
	began     time.Time
	processes []*process
	balancer  string // its address
	slaves    []*slave
	groups    []*cgroup.Group
	// begin receives functions that start processes. They run in a goroutine with its own thread,
	// because Linux ends the processes with that thread: when this process ends, for any reason.
	begin chan func()
}

// SlaveName is the name of the i-th slave.
func SlaveName(i int) string { return fmt.Sprintf("slave-%d", i) }

// Start starts a balancer, distributors, slaves and a master, and waits until complete answers
// are possible. If it returns an error, nothing is left running.
func Start(ctx context.Context, cfg Config) (*Cluster, error) {
	if err := outfile.MakeDir(cfg.Dir); err != nil {
		return nil, fmt.Errorf("cannot make the cluster's directory: %w", err)
	}
	c := &Cluster{cfg: cfg, begin: make(chan func())}
	go func() {
		runtime.LockOSThread()
		for f := range c.begin {
			f()
		}
	}()
	c.began = time.Now()
	if err := c.startAll(ctx); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	c.Filled = time.Since(c.began)
	return c, nil
}

// stateKey returns a new key for the balancer's state, because the database may have served
// another cluster before.
func stateKey() string { return fmt.Sprintf("adbench-%d-%d", os.Getpid(), time.Now().UnixNano()) }

// loopback is the address on which all processes listen.
const loopback = "127.0.0.1:0"

func (c *Cluster) startAll(ctx context.Context) error {
	config, err := c.options()
	if err != nil {
		return err
	}
	b, err := c.start("balancer", "balancer", "--config", config, "--db", c.cfg.DB, "--state-key", stateKey(),
		"--slaves", fmt.Sprint(c.cfg.Slaves), "--replicas", fmt.Sprint(max(1, c.cfg.Replicas)), "--strategy", c.cfg.Strategy, "--order", c.cfg.Order,
		"--interval", c.cfg.Interval.String(), "--listen", loopback, "--admin", loopback,
		fmt.Sprintf("--distribute=%t", c.cfg.Distributors == 0))
	if err != nil {
		return err
	}
	if c.Balancer, err = b.wait(ctx, startTime, "admin "); err != nil {
		return err
	}
	if c.balancer, err = b.wait(ctx, startTime, "balancer ready "); err != nil {
		return err
	}
	c.Listening = time.Since(c.began)
	if c.Loaded, err = measure.MemoryOf(b.cmd.Process.Pid); err != nil {
		return err
	}
	for i := range c.cfg.Distributors {
		_, err := c.start(fmt.Sprintf("distributor-%d", i), "distributor", "--name", fmt.Sprintf("distributor-%d", i),
			"--db", c.cfg.DB, "--order", c.cfg.Order, "--balancer", c.balancer, "--listen", loopback)
		if err != nil {
			return err
		}
	}
	for i := range c.cfg.Slaves {
		if err := c.startSlave(i, filepath.Join(c.cfg.Dir, SlaveName(i)), loopback); err != nil {
			return err
		}
	}
	for i := range c.slaves {
		if err := c.waitSlave(ctx, i); err != nil {
			return err
		}
	}
	m, err := c.start("master", append([]string{"master", "--balancer", c.balancer, "--http", loopback, "--admin", loopback}, c.cfg.MasterFlags...)...)
	if err != nil {
		return err
	}
	if c.Master, err = m.wait(ctx, startTime, "admin "); err != nil {
		return err
	}
	told, stop := context.WithCancel(ctx)
	var telling sync.WaitGroup
	if c.cfg.Progress != nil {
		telling.Go(func() { c.tell(told) })
	}
	c.URL, err = m.wait(ctx, c.cfg.Patience, "ready ")
	stop()
	telling.Wait()
	return err
}

// options writes the balancer's configuration file, the only place for a strategy's options.
func (c *Cluster) options() (path string, err error) {
	raw, err := json.Marshal(map[string]map[string]string{"strategy_options": c.cfg.Options}) // JSON is YAML
	if err != nil {
		return "", err
	}
	path = filepath.Join(c.cfg.Dir, "balancer.yaml")
	return path, os.WriteFile(path, raw, 0o644)
}

// tell reports the progress of the first fill each second.
func (c *Cluster) tell(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		sum := 0.0
		for _, slave := range c.Slaves {
			n, err := Gauge(ctx, slave, "adshard_store_groups")
			if err != nil {
				break // the next report is in a second
			}
			sum += n
		}
		c.cfg.Progress(sum)
	}
}

// Memory returns the memory of each process, by name. It leaves out processes that have ended.
func (c *Cluster) Memory() map[string]measure.Memory {
	out := make(map[string]measure.Memory)
	for _, p := range c.processes {
		if m, err := measure.MemoryOf(p.cmd.Process.Pid); err == nil && m.Resident > 0 {
			out[p.name] = m
		}
	}
	return out
}

// Processes returns the names of all processes by their ids.
func (c *Cluster) Processes() map[int]string {
	names := make(map[int]string)
	for _, p := range c.processes {
		names[p.cmd.Process.Pid] = p.name
	}
	return names
}

// Replicated waits until masters may ask the given number of replicas of every shard.
func (c *Cluster) Replicated(ctx context.Context, replicas int) error {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Patience)
	defer cancel()
	for {
		s, err := c.Status(ctx)
		if err == nil && len(s.Slaves) > 0 && !slices.ContainsFunc(s.Slaves, func(l api.SlaveLoad) bool { return len(l.Replicas) < replicas }) {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("not every shard has %d replicas: %w", replicas, ctx.Err()), err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Ended returns the names of the processes that have ended by themselves.
func (c *Cluster) Ended() (names []string) {
	for _, p := range c.processes {
		select {
		case <-p.ended:
			names = append(names, p.name)
		default:
		}
	}
	return names
}

// Stop ends all processes. It may be called only once.
func (c *Cluster) Stop() error {
	var err error
	for i := len(c.processes) - 1; i >= 0; i-- {
		c.processes[i].term()
	}
	for i := len(c.processes) - 1; i >= 0; i-- {
		err = errors.Join(err, c.processes[i].stop())
	}
	c.processes = nil
	for _, g := range c.groups {
		err = errors.Join(err, g.Remove())
	}
	close(c.begin)
	return err
}
