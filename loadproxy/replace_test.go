package loadproxy

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"adshard/barrels"
	"adshard/fault"
	"adshard/schema/pb"
)

// scriptedCopier is a Copier whose copies end when the test says so.
type scriptedCopier struct {
	mu        sync.Mutex
	tried     []string         // names of the sources, one for each call; under mu
	fails     map[string]error // by source; under mu
	endless   bool             // copies go on until their context ends; under mu
	now       string           // the source of the copy under way; under mu
	discarded int              // under mu
}

func (c *scriptedCopier) Copy(ctx context.Context, from *pb.Replica, database string) error {
	c.mu.Lock()
	c.tried, c.now = append(c.tried, from.GetName()), from.GetName()
	err, endless := c.fails[from.GetName()], c.endless
	c.mu.Unlock()
	if endless {
		<-ctx.Done()
		err = ctx.Err()
	} else {
		time.Sleep(3 * time.Second)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = ""
	return err
}

func (c *scriptedCopier) Copying() *pb.CopyState {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now == "" {
		return nil
	}
	return &pb.CopyState{Source: c.now, Bytes: 3, Total: 7}
}

func (c *scriptedCopier) Discard() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.discarded++
	return nil
}

func (c *scriptedCopier) sources() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.tried)
}

// copies starts a proxy that copies. After a copy, its store is at clock 5.
func copies(t *testing.T, c *scriptedCopier, b *fakeBalancer) (*Proxy, *store) {
	t.Helper()
	s := newStore()
	s.copied = func() {
		s.keys, s.position, s.slices = upTo(5), &pb.Position{Epoch: 1, Clock: 5}, twoSlices()
	}
	cfg := Default("slave-0", "127.0.0.1:1")
	cfg.Copier = c
	return runWith(t, cfg, s, b), s
}

func orderOf(names ...string) *pb.CopyOrder {
	o := &pb.CopyOrder{Shard: "shard-0"}
	for i, name := range names {
		o.Siblings = append(o.Siblings, &pb.Replica{Name: name, Address: name + ":1", Instance: uint64(i + 7)})
	}
	return o
}

// TestACopyTakesThePlace tests that a slave that is ordered to copy while it is filled by node
// data stops pulling and reports progress. Then it registers once, with the copy's position and
// source, and applies each later change once. Earlier damage is forgotten.
func TestACopyTakesThePlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, b := &scriptedCopier{}, newBalancer(9)
		p, s := copies(t, c, b)
		time.Sleep(1500 * time.Millisecond)
		s.damage(barrels.Damage{Lo: 1, Hi: 2, What: "a bad block"})
		b.set(func() { b.order = orderOf("slave-1") })
		for began := time.Now(); c.Copying() == nil && time.Since(began) < time.Minute; {
			time.Sleep(100 * time.Millisecond)
		}
		b.mu.Lock()
		pulls := len(b.pulls)
		b.mu.Unlock()
		time.Sleep(time.Second)
		b.mu.Lock()
		if len(b.pulls) != pulls || c.Copying() == nil {
			t.Errorf("it pulls while it copies: %d, then %d pulls", pulls, len(b.pulls))
		}
		b.mu.Unlock()
		time.Sleep(8 * time.Second)
		b.set(func() { b.order, b.epoch = nil, 2 }) // the slave registers again
		time.Sleep(2 * time.Second)
		if !slices.ContainsFunc(b.reported(), func(r *pb.ReportRequest) bool {
			return r.GetState().GetCopying().GetSource() == "slave-1" && r.GetState().GetCopying().GetTotal() == 7
		}) {
			t.Error("the balancer was not told of the copy")
		}
		claims := 0
		for _, r := range b.registrations() {
			if v := r.GetCopied(); v != nil {
				claims++
				if v.GetSource() != "slave-1" || v.GetInstance() != 7 || r.GetPosition().GetClock() != 5 || len(r.GetSlices().GetSlices()) != 2 {
					t.Errorf("registered with %v", r)
				}
			}
		}
		if got := s.applied(); claims != 1 || !slices.Equal(got, upTo(9)) || !s.serving() || p.WhyIncomplete() != "" {
			t.Fatalf("%d claims, applied %v, serving %v, lacking %q", claims, got, s.serving(), p.WhyIncomplete())
		}
		if got := c.sources(); !slices.Equal(got, []string{"slave-1"}) || c.discarded == 0 {
			t.Errorf("copied %v, discarded %d times", got, c.discarded)
		}
	})
}

// TestNoCopyCanBeMade tests that each sibling is tried once, that node data are pulled after
// that, and that the siblings are tried again for the next loss.
func TestNoCopyCanBeMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, b := &scriptedCopier{fails: map[string]error{
			"slave-1": fault.Newf(fault.Conflict, "copy", "not trusted"), "slave-2": fault.Newf(fault.Corrupt, "copy", "damaged"),
		}}, newBalancer(9)
		b.order = orderOf("slave-1", "slave-2")
		_, s := copies(t, c, b)
		time.Sleep(20 * time.Second)
		if got := c.sources(); !slices.Equal(got, []string{"slave-1", "slave-2"}) || !slices.Equal(s.applied(), upTo(9)) || !s.serving() {
			t.Fatalf("tried %v, applied %v, serving %v", got, s.applied(), s.serving())
		}
		b.set(func() { b.order = nil })
		time.Sleep(2 * time.Second)
		c.mu.Lock()
		c.fails = nil
		c.mu.Unlock()
		b.set(func() { b.order = orderOf("slave-1", "slave-2") })
		time.Sleep(8 * time.Second)
		if got := c.sources(); !slices.Equal(got, []string{"slave-1", "slave-2", "slave-1"}) {
			t.Errorf("tried %v", got)
		}
	})
}

// TestTheSourceIsNamedNoLonger tests that a copy ends if its source is no longer named: it died
// or left the shard, or the slave has another shard. Then the next sibling is copied, or node
// data are pulled.
func TestTheSourceIsNamedNoLonger(t *testing.T) {
	for name, next := range map[string]*pb.CopyOrder{"another is": orderOf("slave-2"), "none is": nil,
		"it has another instance": {Siblings: []*pb.Replica{{Name: "slave-1", Address: "slave-1:1", Instance: 99}}}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, b := &scriptedCopier{endless: true}, newBalancer(9)
				b.order = orderOf("slave-1")
				_, s := copies(t, c, b)
				time.Sleep(5 * time.Second)
				if got := c.sources(); len(got) != 1 || len(s.applied()) != 0 {
					t.Fatalf("tried %v, applied %v", got, s.applied())
				}
				c.mu.Lock()
				c.endless = false
				c.mu.Unlock()
				b.set(func() { b.order = next })
				time.Sleep(10 * time.Second)
				want := []string{"slave-1"}
				for _, n := range next.GetSiblings() {
					want = append(want, n.GetName())
				}
				if got := c.sources(); !slices.Equal(got, want) || !slices.Equal(s.applied(), upTo(9)) || !s.serving() {
					t.Fatalf("tried %v, applied %v, serving %v", got, s.applied(), s.serving())
				}
			})
		})
	}
}

// TestTheBalancerStartsOver tests that a copy continues if the balancer restarts.
func TestTheBalancerStartsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, b := &scriptedCopier{endless: true}, newBalancer(9)
		b.order = orderOf("slave-1")
		_, s := copies(t, c, b)
		time.Sleep(2 * time.Second)
		b.set(func() { b.away = true })
		time.Sleep(30 * time.Second)
		if got := c.sources(); len(got) != 1 {
			t.Fatalf("tried %v while the balancer was away", got)
		}
		c.mu.Lock()
		c.endless = false
		c.mu.Unlock()
		b.set(func() { b.away, b.epoch = false, 2 })
		time.Sleep(8 * time.Second)
		if got := c.sources(); !slices.Equal(got, []string{"slave-1", "slave-1"}) || !slices.Equal(s.applied(), upTo(9)) || !s.serving() {
			t.Fatalf("tried %v, applied %v, serving %v", got, s.applied(), s.serving())
		}
	})
}
