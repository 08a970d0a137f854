package audit

import (
	"context"
	"encoding/json"
	"net/url"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"adshard/internal/clustertest"
	"adshard/search/words"
)

// TestUpgrade: in a cluster of an earlier commit's programs these are replaced with the current ones, one process at
// a time, while queries are sent, data changes and slices move. No answer is wrong, and with two replicas of each
// shard the share -audit.complete of the answers is complete. If both commits have the same words, the test runs once
// in the order of docs/operations/upgrade.md and once in the opposite one. In the opposite order answers may be
// incomplete: newer masters leave out slaves that do not know everything in a request. If the words differ, it uses
// the order that the page gives for that.
func TestUpgrade(t *testing.T) {
	if chosen.before == "" {
		t.Skip("no programs of an earlier commit: -audit.before")
	}
	if wordsOf(t, chosen.before) != words.Version() {
		t.Run("other words", func(t *testing.T) { beginUpgrade(t).otherWords() })
		return
	}
	for _, order := range []string{"slaves first", "masters first"} {
		t.Run(order, func(t *testing.T) { beginUpgrade(t).sameWords(order == "slaves first") })
	}
}

// wordsOf returns the version of words of the programs in a directory.
func wordsOf(t *testing.T, programs string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), filepath.Join(programs, "adshard"), "version", "--json").Output()
	var said struct{ Words string }
	if err == nil {
		err = json.Unmarshal(out, &said)
	}
	if err != nil || said.Words == "" {
		t.Fatalf("adshard version --json in %s: %v, %s", programs, err, out)
	}
	return said.Words
}

// settling is how long an operator waits in addition: older balancers call a slave "asked" some time before all
// masters ask it.
const settling = 3 * time.Second

// upgrade is an upgrade while queries are sent.
type upgrade struct {
	*auditor
	ctx    context.Context
	cancel context.CancelFunc
	all    sync.WaitGroup                     // goroutines that send queries and change data
	asked  atomic.Pointer[clustertest.Client] // client of the masters in use
	lacks  bool                               // answers may lack shards until the end
}

// beginUpgrade starts a cluster of the older programs, queries to it and changes.
func beginUpgrade(t *testing.T) *upgrade {
	data := importCorpus(t, chosen.before)
	c := startPrograms(t, chosen.before, data.path, 6, 2)
	c.Timeout = 0
	u := &upgrade{}
	u.asked.Store(c.Client)
	ask := func(v url.Values) (clustertest.Answer, error) { return u.asked.Load().AskEither(v) }
	u.auditor = &auditor{t: t, cluster: c, ask: ask, data: data, outages: &outages{}, shares: true, moved: map[uint64]clustertest.Status{}}
	u.eventually("the older programs have their replicas", func() bool { return c.whole(2) })
	data.open(t) // as an import by a current program does, while the older ones run
	u.changing = startChanges(t, data.store, false)
	u.begin("the older programs")
	newest, err := data.store.Newest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	u.eventually("everything is asked before it begins", func() bool { return c.whole(2) && c.applied(newest.Clock) && u.complete() })

	chosen.rate = chosen.replicas.rate
	u.ctx, u.cancel = context.WithCancel(t.Context())
	t.Cleanup(func() { u.cancel(); u.all.Wait() })
	u.all.Go(func() { u.load(u.ctx) })
	switching, stop := context.WithCancel(u.ctx)
	defer stop()
	u.all.Go(func() { u.strategies(switching, 2*eachStrategy) })
	u.all.Go(func() { u.watch(u.ctx) })
	u.all.Go(func() {
		if err := u.changing.Run(u.ctx, c.Client, chosen.changes, nil); err != nil {
			t.Errorf("changing the data: %v", err)
		}
	})
	u.eventually("something has moved", func() bool {
		s, err := c.Status()
		return err == nil && s.Moved.Items > 0
	})
	wait(u.ctx, chosen.replicas.rest)
	return u // older balancers add no replica while strategies keep switching
}

// sameWords replaces all parts.
func (u *upgrade) sameWords(slavesFirst bool) {
	c := u.cluster
	u.lacks = !slavesFirst
	steps := []struct {
		name  string
		parts []*clustertest.Process
	}{
		{"slaves", c.slaves}, {"distributors", c.distributors}, {"balancer", []*clustertest.Process{c.balancer}}, {"masters", c.masters},
	}
	for i := range steps {
		step := steps[i]
		if !slavesFirst {
			step = steps[len(steps)-1-i]
		}
		u.begin(step.name)
		u.replace(step.parts...)
	}
	u.end()
}

// replace replaces the programs of parts, one at a time.
func (u *upgrade) replace(parts ...*clustertest.Process) {
	for _, p := range parts {
		p.Stop()
		p.Programs = ""
		if u.lacks && p.Command == "master" { // the master is not ready, since all slaves lack its features
			if _, err := p.Begin(); err != nil {
				u.t.Errorf("start %s: %v", p.Command, err)
			}
		} else {
			u.start(p)
		}
		if !u.lacks {
			wait(u.ctx, settling) // older balancers list what a slave reported before its restart, until it reports again
			u.whole("after an upgrade of a " + p.Command)
		}
		wait(u.ctx, settling)
	}
}

// otherWords replaces programs in the order for another version of words.
func (u *upgrade) otherWords() {
	c := u.cluster
	u.olderAnswers()
	u.command("/v1/balance/pause")
	u.begin("balancer, a distributor")
	u.replace(c.balancer, c.distributors[0])
	first, second := u.replicas()
	u.begin("one replica of each shard")
	u.replace(first...)
	u.begin("masters")
	u.newMasters()
	u.begin("the other replicas")
	u.replace(second...)
	u.begin("the other distributor")
	u.replace(c.distributors[1])
	u.command("/v1/balance/resume")
	u.end()
	report, err := u.data.store.Words(u.t.Context())
	if err != nil || len(report.Removed) != 1 {
		u.t.Errorf("removed: %+v, %v; want one", report, err)
	}
}

// olderAnswers checks that words matter: the older programs give other answers to some questions.
func (u *upgrade) olderAnswers() {
	u.t.Helper()
	for i := range u.data.renewed {
		q := &u.data.renewed[i]
		if a, err := u.ask(q.Params(true)); err != nil || q.Difference(&a, true) == "" {
			u.t.Fatalf("%s: %+v, %v; the older programs' answer is to be another one", q, a, err)
		}
	}
}

func (u *upgrade) command(path string) {
	u.t.Helper()
	if err := u.cluster.Post(u.ctx, path, nil); err != nil {
		u.t.Fatal(err)
	}
}

// replicas returns one slave of each shard, and the others.
func (u *upgrade) replicas() (first, others []*clustertest.Process) {
	u.t.Helper()
	list, err := u.cluster.Slaves()
	if err != nil {
		u.t.Fatal(err)
	}
	shards := make(map[string]bool)
	for _, s := range list {
		for i, p := range u.cluster.slaves {
			if s.Name != u.cluster.slaveName(i) {
				continue
			}
			if shards[s.Shard] {
				others = append(others, p)
			} else {
				first = append(first, p)
			}
		}
		shards[s.Shard] = true
	}
	if len(first) != 3 || len(others) != 3 {
		u.t.Fatalf("%d and %d replicas: %+v", len(first), len(others), list)
	}
	return first, others
}

// newMasters starts masters beside the older ones, which end when the new ones are in use.
func (u *upgrade) newMasters() {
	c := u.cluster
	older := c.masters
	next := clustertest.NewClient(10*time.Second, nil, c.Admins...)
	u.t.Cleanup(next.Close)
	c.masters, c.programs = nil, ""
	next.Masters = c.startMasters("new-")
	u.eventually("the new masters have complete answers", func() bool {
		for _, at := range next.Masters {
			a, err := next.AskAt(at, u.data.questions[0].Params(false))
			if err != nil || !a.Coverage.Complete {
				return false
			}
		}
		return true
	})
	u.asked.Store(next)
	u.all.Go(func() {
		for i := 0; wait(u.ctx, 50*time.Millisecond); i++ {
			u.question(&u.data.renewed[i%len(u.data.renewed)], true)
		}
	})
	wait(u.ctx, settling)
	for _, m := range older {
		m.Stop()
	}
	wait(u.ctx, chosen.replicas.rest)
}

// end ends the queries and judges everything.
func (u *upgrade) end() {
	wait(u.ctx, chosen.replicas.rest)
	u.cancel()
	u.all.Wait()
	u.cluster.Masters = u.asked.Load().Masters
	u.begin("the programs of now")
	u.eventually("everything is up, and complete answers", u.settled)
	u.askAll()
	u.report()
	for _, p := range u.phases {
		if share := 1 - float64(p.incomplete)/float64(max(1, p.asked)); share < chosen.replicas.share && !u.lacks {
			u.t.Errorf("%s: %.2f %% of the answers are complete, though only one program at a time was replaced", p.name, 100*share)
		}
	}
}
