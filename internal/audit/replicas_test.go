package audit

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"syscall"
	"testing"
	"time"

	"adshard/internal/clustertest"
)

// TestAuditOfReplicas: two slaves hold each slice, and users notice no failure of one slave or master. A client asks
// one of two masters, and the other one if there is no answer; an incomplete answer counts as one. Meanwhile slices move, strategies
// are switched and data changes.
func TestAuditOfReplicas(t *testing.T) {
	if testing.Short() {
		t.Skip("short: the audit takes its time")
	}
	r := &chosen.replicas
	data := openCorpus(t)
	changing := startChanges(t, data.store, true)
	before := 2
	if r.change {
		before = 1
	}
	c := startCluster(t, data.path, 6, before)
	c.Timeout = 0
	a := &auditor{t: t, cluster: c, ask: c.AskEither, data: data, changing: changing, outages: &outages{}, shares: true,
		moved: map[uint64]clustertest.Status{}}
	a.begin("start")
	a.eventually("everything is asked before it begins", func() bool { return c.whole(before) && a.complete() })

	chosen.rate = r.rate
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var all sync.WaitGroup
	all.Go(func() { a.load(ctx) })
	all.Go(func() { a.watch(ctx) })
	all.Go(func() {
		if err := changing.Run(ctx, c.Client, chosen.changes, nil); err != nil {
			t.Errorf("changing the data: %v", err)
		}
	})
	a.firstMove()
	all.Go(func() { a.strategies(ctx, 2*eachStrategy) })
	a.endure(ctx)
	cancel()
	all.Wait()

	a.begin("end")
	a.eventually("everything is up, and complete answers", a.settled)
	a.askAll()
	a.report()
	a.judgePhases()
}

// firstMove waits until a strategy that is not replaced meanwhile has moved something.
func (a *auditor) firstMove() {
	if err := a.cluster.Post(context.Background(), "/v1/balance/strategy", map[string]string{"name": "random"}); err != nil {
		a.t.Fatal(err)
	}
	a.eventually("something has moved", func() bool {
		s, err := a.cluster.Status()
		return err == nil && s.Moved.Items > 0
	})
}

// endure makes one disturbance happen after the other.
func (a *auditor) endure(ctx context.Context) {
	r := &chosen.replicas
	if r.change {
		a.change("two replicas", 2, nil)
	}
	a.begin("rest")
	wait(ctx, r.rest)
	a.begin("faults")
	a.faults(ctx)
	a.whole("after the faults")
	if !r.change {
		return
	}
	a.change("one replica", 1, nil)
	dice := rand.New(rand.NewPCG(5, 5))
	a.change("two replicas while a slave dies", 2, func() {
		time.Sleep(time.Duration(dice.IntN(2000)) * time.Millisecond)
		a.outages.begin()
		defer a.outages.end()
		a.again(a.cluster.slaves[dice.IntN(len(a.cluster.slaves))])
		a.eventually("complete answers", a.complete)
	})
}

// whole waits until all replicas are in use.
func (a *auditor) whole(when string) {
	ok := false
	defer func() {
		if !ok {
			list, err := a.cluster.Slaves()
			a.t.Logf("%v; slaves: %+v", err, list)
		}
	}()
	a.eventually("all replicas are asked "+when, func() bool { ok = a.cluster.whole(2); return ok })
}

// change changes the number of replicas, and waits until each shard has the given number.
func (a *auditor) change(name string, replicas int, meanwhile func()) {
	a.begin(name)
	if err := a.cluster.Post(context.Background(), "/v1/balance/replicas", map[string]int{"replicas": replicas}); err != nil {
		a.t.Fatal(err)
	}
	began := time.Now()
	if meanwhile != nil {
		meanwhile()
	}
	for ; !a.cluster.whole(replicas); time.Sleep(100 * time.Millisecond) {
		if time.Since(began) > changeTime {
			list, err := a.cluster.Slaves()
			a.t.Fatalf("not within %v: %s; %v, slaves: %+v", changeTime, name, err, list)
		}
	}
	a.t.Logf("%s after %v", name, time.Since(began).Round(time.Second))
}

// changeTime limits how long a change of the number of replicas takes.
const changeTime = 10 * time.Minute

// faults makes replicas or masters fail, one at a time.
func (a *auditor) faults(ctx context.Context) {
	r := &chosen.replicas
	ctx, cancel := context.WithTimeout(ctx, r.duration)
	defer cancel()
	dice := rand.New(rand.NewPCG(4, 4))
	for tick := time.Now(); wait(ctx, time.Until(tick.Add(r.every))); {
		a.whole("before the next fault") // a shard without one replica must not lose the other
		tick = time.Now()
		slave, pause := dice.IntN(len(a.cluster.slaves)), time.Duration(dice.IntN(1000))
		part, what := a.cluster.slaves[slave], fmt.Sprint("slave ", slave)
		a.t.Logf("%s %s: %s", tick.Format("04:05.000"), what, r.fault)
		switch r.fault {
		case "kill":
			part.Kill()
			time.Sleep(2 * pause * time.Millisecond)
			a.start(part)
		case "stop":
			if err := part.Signal(syscall.SIGSTOP); err != nil {
				a.t.Error(err)
			}
			time.Sleep(min(2*time.Second+10*pause*time.Millisecond, r.every/2))
			if err := part.Signal(syscall.SIGCONT); err != nil {
				a.t.Error(err)
			}
		case "master":
			a.again(a.cluster.masters[slave%2])
		default:
			a.t.Fatalf("-audit.fault=%s is not known", r.fault)
		}
	}
}

// judgePhases judges how many answers of a phase were complete, and how long they took.
func (a *auditor) judgePhases() {
	r := &chosen.replicas
	var rest, faults *phase
	for _, p := range a.phases {
		switch p.name {
		case "faults":
			faults = p
			if share := 1 - float64(p.incomplete)/float64(p.asked); share < r.share {
				a.t.Errorf("%.4f %% of the answers under faults are complete, want %.4f %%", 100*share, 100*r.share)
			}
			continue
		case "rest":
			rest = p
		}
		// A machine that is busy with other things stops all processes for a moment now and then.
		if p.incomplete > min(p.late, p.asked/1000) && p.name != "two replicas while a slave dies" {
			a.t.Errorf("%s: %d answers are incomplete, %d of them only late, though no slave failed", p.name, p.incomplete, p.late)
		}
	}
	if most := max(20*time.Millisecond, 2*rest.at(.99)); r.timed && faults.at(.99) > most {
		a.t.Errorf("p99 under faults is %v, want at most %v", faults.at(.99), most)
	}
}
