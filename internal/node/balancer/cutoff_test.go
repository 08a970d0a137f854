package balancer

import (
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// cable carries connections to an address, and can be cut: then nothing passes, and open
// connections end.
type cable struct {
	listener net.Listener
	to       string

	mu    sync.Mutex
	cut   bool
	conns map[net.Conn]bool
}

func newCable(t *testing.T, to string) *cable {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cable{listener: l, to: to, conns: make(map[net.Conn]bool)}
	var all sync.WaitGroup
	all.Go(func() { c.accept(&all) })
	t.Cleanup(func() {
		_ = l.Close()
		c.set(true)
		all.Wait()
	})
	return c
}

func (c *cable) accept(all *sync.WaitGroup) {
	for {
		near, err := c.listener.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", c.to)
		if err != nil || !c.keep(near, far) {
			_ = near.Close()
			continue
		}
		for _, way := range [][2]net.Conn{{near, far}, {far, near}} {
			all.Go(func() {
				_, _ = io.Copy(way[0], way[1])
				_, _ = near.Close(), far.Close()
			})
		}
	}
}

// keep adds connections. It returns false if the cable is cut.
func (c *cable) keep(conns ...net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range conns {
		if c.cut {
			_ = n.Close()
		} else {
			c.conns[n] = true
		}
	}
	return !c.cut
}

// set cuts the cable or repairs it.
func (c *cable) set(cut bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut = cut
	if cut {
		for n := range c.conns {
			_ = n.Close()
		}
		clear(c.conns)
	}
}

// TestAMasterIsCutOffWhileSlicesMove: the master continues with the map that the slaves tell it,
// and no complete answer is wrong.
func TestAMasterIsCutOffWhileSlicesMove(t *testing.T) {
	w := newWorld(t, 3, func(c *Config) { c.MasterLease = time.Second })
	c := newCable(t, w.addr)
	w.watch(c.listener.Addr().String())
	w.eventually("complete", w.complete)
	view := w.watcher.Current().View
	end := w.ask()
	c.set(true)
	for i := range 4 {
		from, to := w.order(i)
		w.move(w.on(from)[0], to)
		w.eventually("moved", w.still)
	}
	w.eventually("told by slaves", func() bool { return w.watcher.Current().View > view && w.complete() })
	c.set(false)
	w.eventually("clean", w.clean)
	w.eventually("complete", w.complete)
	sum := end()
	sum.right(t)
	if sum.incomplete > sum.complete {
		t.Errorf("%d incomplete answers, %d complete: %v", sum.incomplete, sum.complete, sum.missing)
	}
}
