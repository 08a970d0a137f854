package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"adshard/balance/strategy"
	"adshard/internal/clustertest"
)

// eachStrategy is how long each strategy is in use, short enough for the short form to use all.
const eachStrategy = time.Second

// TestAudit: see the package's comment.
func TestAudit(t *testing.T) {
	if testing.Short() {
		t.Skip("short: the audit takes its time")
	}
	data := openCorpus(t)
	changing := startChanges(t, data.store, true)
	c := startCluster(t, data.path, chosen.slaves, 1)
	a := &auditor{t: t, cluster: c, ask: c.Ask, data: data, changing: changing, outages: &outages{}, moved: map[uint64]clustertest.Status{}}
	a.begin("killing")
	a.eventually("complete answers before it begins", a.settled)

	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	defer func() { cancel(); all.Wait() }()
	all.Go(func() { a.load(ctx) })
	all.Go(func() { a.strategies(ctx, eachStrategy) })
	all.Go(func() { a.watch(ctx) })
	if chosen.harm {
		all.Go(func() { a.harm(ctx) })
	} else {
		all.Go(func() { a.kills(ctx) })
	}
	all.Go(func() {
		if err := changing.Run(ctx, c.Client, chosen.changes, nil); err != nil {
			t.Errorf("changing the data: %v", err)
		}
	})
	wait(ctx, chosen.duration)
	a.eventually("enough was audited", a.enough)
	cancel()
	all.Wait()

	a.eventually("everything is up, and complete answers", a.settled)
	a.askAll()
	a.report()
}

// enough reports whether slices have moved and all strategies were in use, or most of them if there is time for only
// one round. Restarts of balancers and a busy machine leave less time for both.
func (a *auditor) enough() bool {
	all := len(strategy.Names())
	round, want := time.Duration(all+1)*cmp.Or(chosen.strategy, eachStrategy), all
	switch {
	case chosen.duration < round:
		want = 0
	case chosen.duration < 3*round:
		want = 3 * all / 4
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	items := uint64(0)
	for _, s := range a.moved {
		items += s.Moved.Items
	}
	return items > 0 && len(a.used) >= want
}

// askAll sends each query once.
func (a *auditor) askAll() {
	for i := range a.data.questions {
		a.question(&a.data.questions[i], true)
	}
	for i := range a.data.renewed {
		a.question(&a.data.renewed[i], true)
	}
	for g := range clustertest.Groups {
		a.judge(fmt.Sprint("at rest ", clustertest.Word(g)), func() (clustertest.Answer, string, error) { return a.changing.One(g, a.ask) })
	}
	if a.changing.Shifting == nil {
		return
	}
	for g := range clustertest.Groups {
		a.targeted(2 * g)
	}
	ctx, cancel := context.WithTimeout(a.t.Context(), clustertest.Patience)
	defer cancel()
	if !a.changing.Shifting.Settle(ctx, a.cluster.Client) {
		a.t.Error("at rest the newest block list and place are not in all masters' answers")
	}
}

// auditor sends queries, disturbs the cluster and judges answers.
type auditor struct {
	t        *testing.T
	cluster  *cluster
	ask      func(url.Values) (clustertest.Answer, error)
	data     *corpus
	changing *clustertest.Changes
	outages  *outages // during these answers may be incomplete
	// shares allows a share of the answers to be incomplete, at any time.
	shares bool
	// lasting is set when damage was done that may be noticed at any later time. Then answers may be incomplete, but
	// must say which shards are missing.
	lasting atomic.Bool

	mu     sync.Mutex
	phases []*phase // the last one is the current one; under mu
	wrong  int      // under mu
	// moved is what was moved in each epoch of the balancer; under mu.
	moved map[uint64]clustertest.Status
	// used counts how often each strategy was switched to; under mu.
	used map[string]int
}

// phase counts the answers during a part of the test.
type phase struct {
	name                       string
	asked, incomplete, refused int
	late                       int // incomplete answers for which all missing shards were late
	took                       []time.Duration
	why                        map[string]int // number of missing shards by reason
}

// begin begins the next phase.
func (a *auditor) begin(name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.phases = append(a.phases, &phase{name: name, why: make(map[string]int)})
}

// at returns the time that the given share of the answers did not exceed.
func (p *phase) at(share float64) time.Duration {
	if len(p.took) == 0 {
		return 0
	}
	slices.Sort(p.took)
	return p.took[int(float64(len(p.took)-1)*share)]
}

func (a *auditor) eventually(what string, ok func() bool) {
	a.t.Helper()
	for end := time.Now().Add(clustertest.Patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if ok() {
			return
		}
	}
	a.t.Fatalf("not within %v: %s", clustertest.Patience, what)
}

// settled reports whether answers are complete.
func (a *auditor) settled() bool {
	for i := range a.cluster.slaves {
		if !a.cluster.ready(i) {
			return false
		}
	}
	got, err := a.cluster.Ask(a.data.questions[0].Params(true))
	return err == nil && got.Coverage.Complete
}

// load sends queries at the rate, however long the answers take.
func (a *auditor) load(ctx context.Context) {
	dice := rand.New(rand.NewPCG(1, 1))
	tick := time.NewTicker(time.Second / time.Duration(chosen.rate))
	defer tick.Stop()
	var under sync.WaitGroup
	defer under.Wait()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		kind, i, exact := dice.IntN(10), dice.IntN(len(a.data.questions)), dice.IntN(2) == 0
		under.Go(func() {
			switch kind {
			case 0:
				g := i % clustertest.Groups
				a.judge(clustertest.Word(g), func() (clustertest.Answer, string, error) { return a.changing.One(g, a.ask) })
			case 1:
				a.judge("zzall", func() (clustertest.Answer, string, error) { return a.changing.All(a.ask) })
			case 2:
				a.targeted(i)
			default:
				a.question(&a.data.questions[i], exact)
			}
		})
	}
}

// targeted sends a query that depends on changing targeting, or on a changing block list or place.
func (a *auditor) targeted(i int) {
	g := i / 2 % clustertest.Groups
	switch {
	case a.changing.Shifting == nil:
	case i%2 == 0:
		a.judge("half of "+clustertest.Word(g), func() (clustertest.Answer, string, error) { return a.changing.Half(g, a.ask) })
	default:
		a.judge("a list or a place", func() (clustertest.Answer, string, error) {
			_, got, wrong, err := a.changing.Shifting.Ask(a.cluster.Client)
			return got, wrong, err
		})
	}
}

func (a *auditor) question(q *clustertest.Question, exact bool) {
	a.judge(q.String(), func() (clustertest.Answer, string, error) {
		got, err := a.ask(q.Params(exact))
		if err != nil || !got.Coverage.Complete {
			return got, "", err
		}
		return got, q.Difference(&got, exact), nil
	})
}

// judge sends one query and counts the result.
func (a *auditor) judge(what string, ask func() (clustertest.Answer, string, error)) {
	began := time.Now()
	got, wrong, err := ask()
	now := time.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	p := a.phases[len(a.phases)-1]
	p.asked++
	p.took = append(p.took, now.Sub(began))
	switch {
	case errors.Is(err, clustertest.ErrOverloaded) && !a.shares:
		p.refused++ // refused at once, as promised, and not answered wrongly
	case err != nil:
		a.fault("%s: %v", what, err)
	case !got.Coverage.Complete:
		p.incomplete++
		late := 0
		for _, why := range got.Coverage.Reasons {
			if p.why[why]++; why == "late" {
				late++
			}
		}
		if late > 0 && late == len(got.Coverage.Reasons) {
			p.late++
		}
		a.excuse(what, &got, began, now)
	case !got.Coverage.PricesExact:
		a.fault("%s: complete, and prices are not exact", what)
	case wrong != "":
		a.fault("%s: %s", what, wrong)
	}
}

// excuse judges an incomplete answer. It is called with mu held.
func (a *auditor) excuse(what string, got *clustertest.Answer, began, now time.Time) {
	if a.lasting.Load() && len(got.Coverage.Missing) == 0 {
		a.fault("%s: incomplete and nobody is missing: %+v", what, got.Coverage)
	}
	switch {
	case a.outages.during(began, now) || a.lasting.Load():
	case a.shares:
		a.t.Logf("%s %s: incomplete after %v: %+v", now.Format("04:05.000"), what, now.Sub(began), got.Coverage)
	default:
		a.fault("%s: incomplete while all slaves were up: %+v", what, got.Coverage)
	}
}

func (a *auditor) fault(format string, args ...any) {
	if a.wrong++; a.wrong <= 20 {
		a.t.Errorf(time.Now().Format("05.000 ")+format, args...)
	}
}

// watch adds up what is moved, since a balancer counts only from its start.
func (a *auditor) watch(ctx context.Context) {
	for wait(ctx, 200*time.Millisecond) {
		a.note()
	}
}

func (a *auditor) note() {
	s, err := a.cluster.Status()
	if err != nil {
		return // the balancer is being restarted
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.moved[s.Epoch] = s
}

func (a *auditor) noteStrategy(name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.used == nil {
		a.used = make(map[string]int)
	}
	a.used[name]++
}

func (a *auditor) report() {
	a.note()
	var items, bytes, view uint64
	for _, s := range a.moved {
		items, bytes, view = items+s.Moved.Items, bytes+s.Moved.Bytes, max(view, s.View)
	}
	if items == 0 {
		a.t.Error("nothing has moved: nothing was audited")
	}
	for _, p := range a.phases {
		a.t.Logf("%s: %d asked, %d incomplete %v, %d refused for overload; p50 %v, p99 %v", p.name,
			p.asked, p.incomplete, p.why, p.refused, p.at(.5), p.at(.99))
	}
	if s := a.changing.Shifting; s != nil {
		if a.t.Logf("%s; %d changes that mean nothing to answers", s.Report(), a.changing.Stirring.Changes()); s.Shifts() == 0 {
			a.t.Error("no block list and no place was changed: nothing of them was audited")
		}
	}
	a.t.Logf("%d wrong or without an answer; a slave was down for %v; %d balancers, view %d, moved %d items, %d bytes; strategies %v",
		a.wrong, a.outages.lengths(), len(a.moved), view, items, bytes, a.used)
}
