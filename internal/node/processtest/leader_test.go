package processtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"adshard/internal/node/balancer"
	"adshard/internal/node/control/etcdtest"
	"adshard/internal/node/porttest"
)

// pair is a cluster with two balancers, one of which leads.
type pair struct {
	*cluster
	cfgs [2]balancer.Config
	of   [2]*process
}

// newPair starts two balancers, and two slaves and a master that know both balancers.
func newPair(t *testing.T, w *world) (p *pair, url string) {
	t.Helper()
	return newPairOn(t, w, "")
}

// newPairOn is newPair with the control state in etcd.
func newPairOn(t *testing.T, w *world, etcd string) (p *pair, url string) {
	t.Helper()
	c := newCluster(t, w)
	c.cfg.Interval, c.cfg.Control = 0, etcd
	c.cfg.Linger, c.cfg.MasterLease, c.cfg.DeadAfter = 100*time.Millisecond, time.Second, 2*time.Second
	p = &pair{cluster: c}
	addresses := []string{porttest.Address(t), porttest.Address(t)}
	for i, address := range addresses {
		p.cfgs[i] = c.cfg
		p.cfgs[i].Listen, p.cfgs[i].Balancers = address, strings.Join(addresses, ",")
	}
	p.startLeader(0)
	p.of[1] = start(t, "balancer", p.cfgs[1])
	p.of[1].line("balancer standby ")
	c.cfg.Listen = strings.Join(addresses, ",") // the addresses with which the others are configured
	c.startSlave(0)
	c.startSlave(1)
	url = c.startMaster()
	w.follows(url)
	return p, url
}

// startLeader starts a balancer that is to lead, and makes its admin port that of the cluster.
func (p *pair) startLeader(i int) {
	p.t.Helper()
	p.of[i] = start(p.t, "balancer", p.cfgs[i])
	p.leads(i)
}

// leads waits until a balancer leads, and makes its admin port that of the cluster.
func (p *pair) leads(i int) {
	p.t.Helper()
	p.of[i].line("balancer ready ")
	p.admin = p.of[i].line("admin ")
}

// tries sends a request to an admin port and returns the status and the body.
func tries(t *testing.T, method, url, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text)
}

// asks sends queries until `stop` is called. None may be incomplete or fail. `stop` returns how many were answered.
func (p *pair) asks(url string) (stop func() int) {
	ctx, cancel := context.WithCancel(context.Background())
	n := 0
	var done sync.WaitGroup
	done.Go(func() {
		for ctx.Err() == nil {
			code, body := tries(p.t, http.MethodGet, url+"/v1/search?q=usb+cable&timeout_ms=5000", "")
			var a struct{ Coverage struct{ Complete bool } }
			if err := json.Unmarshal([]byte(body), &a); code != http.StatusOK || err != nil || !a.Coverage.Complete {
				p.t.Errorf("query %d: %d, %s", n, code, body)
				return
			}
			n++
			time.Sleep(2 * time.Millisecond)
		}
	})
	return sync.OnceValue(func() int { cancel(); done.Wait(); return n })
}

// How soon a standby should lead, and answers should reflect a budget mark. A busy machine takes longer, so these times are
// printed and not asserted.
const (
	leadsWithin = 5 * time.Second
	marksWithin = time.Second
)

// took prints how long something has taken. `make takeover` shows these lines.
func (p *pair) took(what string, since time.Time, wanted time.Duration) {
	p.t.Helper()
	took := time.Since(since)
	verdict := "ok"
	if took > wanted {
		verdict = "LATE"
	}
	p.t.Logf("takeover: %-46s %6.2f s, wanted %v: %s", what, took.Seconds(), wanted, verdict)
}

// marks sets the budget mark of a campaign through any balancer, and waits until answers show it.
func (p *pair) marks(when, admin, url string, exhausted bool) {
	p.t.Helper()
	began := time.Now()
	if code, body := tries(p.t, http.MethodPost, admin+"/v1/campaigns/1/budget", fmt.Sprintf(`{"exhausted":%v}`, exhausted)); code != http.StatusOK {
		p.t.Fatalf("%d %s", code, body)
	}
	p.world.follows(url)
	p.took("a budget mark in answers, "+when, began, marksWithin)
}

// TestALeaderIsKilled: a leader is killed while queries are sent and a slice moves. The standby leads, the move continues,
// no answer is incomplete, and budget marks take effect before and after.
func TestALeaderIsKilled(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 150)
	p, url := newPair(t, w)
	second := p.of[1].line("admin ")
	p.marks("before", p.admin, url, true)
	stop := p.asks(url)
	p.move("slave-0", "slave-1")
	p.of[0].kill()
	killed := time.Now()
	if code, body := tries(t, http.MethodPost, second+"/v1/campaigns/1/budget", `{"exhausted":false}`); code != http.StatusOK {
		t.Errorf("a standby does not mark budgets: %d %s", code, body)
	}
	p.leads(1)
	p.took("the standby leads after a kill", killed, leadsWithin)
	w.follows(url)
	p.took("a budget mark in answers, made after the kill", killed, leadsWithin+marksWithin)
	eventually(t, "the move is over", p.still)
	w.write(0, 20)
	w.follows(url)
	p.marks("after", p.admin, url, true)
	t.Logf("%d queries were complete meanwhile", stop())
	w.compare(url)
	eventually(t, "every group is held once", func() bool {
		list := slaves(t, p.admin)
		return groupsOf(list, "slave-0")+groupsOf(list, "slave-1") == 600
	})

	// The first balancer comes back as a standby. It leads again immediately when the second one is stopped cleanly.
	p.of[0] = start(t, "balancer", p.cfgs[0])
	p.of[0].line("balancer standby ")
	stopped := time.Now()
	p.of[1].stop()
	p.leads(0)
	p.took("the standby leads after an end in order", stopped, leadsWithin)
	p.marks("after", p.admin, url, false)
	w.write(20, 40)
	w.follows(url)
	w.compare(url)
}

// TestALeaderFreezesAndWakes: a leader freezes and wakes up after its successor was elected. It writes nothing and becomes
// a standby.
func TestALeaderFreezesAndWakes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 100)
	p, url := newPair(t, w)
	before := p.admin
	p.marks("before", p.admin, url, true)
	stop := p.asks(url)
	p.move("slave-0", "slave-1")
	p.freezeOutsideWrites(0)
	frozen := time.Now()
	p.leads(1)
	p.took("the standby leads after SIGSTOP", frozen, leadsWithin)
	p.marks("after", p.admin, url, false)
	w.write(0, 20)
	w.follows(url)
	eventually(t, "the move is over", p.still)
	p.of[0].goOn()
	p.of[0].line("balancer standby ")
	p.standsBy(before, p.admin)
	p.move("slave-1", "slave-0")
	eventually(t, "the move back is over", p.still)
	t.Logf("%d queries were complete meanwhile", stop())
	w.write(20, 40)
	w.follows(url)
	w.compare(url)
	if last := p.of[0].last("balancer ready "); p.of[1].last("balancer ready ") == "" || last == "" {
		t.Error("nobody led")
	}
}

// freezeOutsideWrites freezes a balancer at a moment when it is not writing. A balancer that is frozen during a write keeps
// SQLite's file locked until it continues or ends, and no standby can take its place.
func (p *pair) freezeOutsideWrites(i int) {
	p.t.Helper()
	eventually(p.t, "it is frozen outside of a write", func() bool {
		p.of[i].freeze()
		ctx, cancel := context.WithTimeout(p.t.Context(), 300*time.Millisecond)
		defer cancel()
		tx, err := p.world.db.Begin(ctx)
		if err != nil {
			p.of[i].goOn()
			return false
		}
		tx.Rollback()
		return true
	})
}

// standsBy checks what the admin port of a standby answers.
func (p *pair) standsBy(admin, leader string) {
	p.t.Helper()
	eventually(p.t, "it says who leads", func() bool {
		code, body := tries(p.t, http.MethodGet, admin+"/v1/balance", "")
		return code == http.StatusServiceUnavailable && strings.Contains(body, leader)
	})
	for path, method := range map[string]string{"/v1/slaves": http.MethodGet, "/v1/balance/pause": http.MethodPost, "/v1/slaves/slave-0/drain": http.MethodPost} {
		if code, body := tries(p.t, method, admin+path, ""); code != http.StatusServiceUnavailable || !strings.Contains(body, leader) {
			p.t.Errorf("%s at a standby: %d %s", path, code, body)
		}
	}
	eventually(p.t, "it is ready to take over", func() bool { code, _ := tries(p.t, http.MethodGet, admin+"/readyz", ""); return code == http.StatusOK })
	if _, body := tries(p.t, http.MethodGet, admin+"/metrics", ""); !strings.Contains(body, `adshard_balancer_leads{node="balancer"} 0`) {
		p.t.Error("no metric says that it stands by")
	} else if strings.Contains(body, "adshard_balancer_leads_since_seconds") {
		p.t.Error("a metric says since when it leads")
	}
}

// TestALeaderOnEtcdIsKilled: the same with the control state in etcd, where one of etcd's three members is also killed. If
// that was etcd's own leader, its successor extends all leases to their full time.
func TestALeaderOnEtcdIsKilled(t *testing.T) {
	t.Parallel()
	etcd, err := etcdtest.New(3)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := etcd.Remove(); err != nil {
			t.Error(err)
		}
	})
	w := newWorld(t, 100)
	p, url := newPairOn(t, w, etcd.URL())
	p.marks("before, with etcd", p.admin, url, true)
	stop := p.asks(url)
	p.move("slave-0", "slave-1")
	etcd.Kill(0)
	p.of[0].kill()
	killed := time.Now()
	p.leads(1)
	p.took("the standby leads after two kills, with etcd", killed, 2*leadsWithin)
	p.marks("after, with etcd", p.admin, url, false)
	eventually(t, "the move is over", p.still)
	w.write(0, 20)
	w.follows(url)

	// Without a majority the leader stops. When the majority is back, either the leader continues or a standby leads.
	etcd.Kill(1)
	eventually(t, "the leader stops", func() bool {
		code, _ := tries(t, http.MethodGet, p.admin+"/v1/balance", "")
		return code == http.StatusServiceUnavailable
	})
	w.write(20, 40)
	if err := etcd.StartAll(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a balancer leads", func() bool {
		code, _ := tries(t, http.MethodGet, p.admin+"/v1/balance", "")
		return code == http.StatusOK
	})
	w.follows(url)
	p.move("slave-1", "slave-0")
	eventually(t, "the move back is over", p.still)
	t.Logf("%d queries were complete meanwhile", stop())
	w.compare(url)
}
