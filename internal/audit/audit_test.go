package audit

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestAudit: see the package's comment.
func TestAudit(t *testing.T) {
	if testing.Short() {
		t.Skip("short: the audit takes its time")
	}
	data := openCorpus(t)
	changing := startChanger(t, data.store)
	c := startCluster(t, data.path, chosen.slaves)
	a := &auditor{t: t, cluster: c, data: data, changing: changing, outages: &outages{}, moved: map[uint64]status{}}
	a.eventually("complete answers before it begins", a.settled)

	ctx, cancel := context.WithTimeout(t.Context(), chosen.duration)
	defer cancel()
	var all sync.WaitGroup
	all.Go(func() { a.load(ctx) })
	all.Go(func() { a.strategies(ctx) })
	all.Go(func() { a.watch(ctx) })
	if chosen.harm {
		all.Go(func() { a.harm(ctx) })
	} else {
		all.Go(func() { a.kills(ctx) })
	}
	all.Go(func() {
		if err := changing.run(ctx, chosen.changes); err != nil {
			t.Errorf("changing the data: %v", err)
		}
	})
	all.Wait()

	a.eventually("everything is up, and complete answers", a.settled)
	for i := range data.questions {
		a.question(i, true)
	}
	for g := range groups {
		a.judge(fmt.Sprint("at rest ", word(g)), func() (answer, string, error) { return changing.one(g, c.ask) })
	}
	a.report()
}

// auditor asks, disturbs and judges.
type auditor struct {
	t        *testing.T
	cluster  *cluster
	data     *corpus
	changing *changer
	outages  *outages
	// lasting: damage was done that may be met at any time from now on; then an
	// incomplete answer must say who is missing.
	lasting atomic.Bool

	mu         sync.Mutex
	asked      int             // under mu
	incomplete int             // under mu
	refused    int             // under mu
	wrong      int             // under mu
	took       []time.Duration // under mu
	// moved is what each epoch of the balancer moved; under mu.
	moved map[uint64]status
}

func (a *auditor) eventually(what string, ok func() bool) {
	a.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if ok() {
			return
		}
	}
	a.t.Fatalf("not within %v: %s", patience, what)
}

// settled: answers are complete.
func (a *auditor) settled() bool {
	for i := range a.cluster.slaves {
		if !a.cluster.ready(i) {
			return false
		}
	}
	got, err := a.cluster.ask(a.data.questions[0].params(true))
	return err == nil && got.Coverage.Complete
}

// load asks at the rate, whatever the answers take.
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
				g := i % groups
				a.judge(word(g), func() (answer, string, error) { return a.changing.one(g, a.cluster.ask) })
			case 1:
				a.judge("zzall", func() (answer, string, error) { return a.changing.all(a.cluster.ask) })
			default:
				a.question(i, exact)
			}
		})
	}
}

func (a *auditor) question(i int, exact bool) {
	q := &a.data.questions[i]
	a.judge(fmt.Sprintf("%q %s", q.text, q.device), func() (answer, string, error) {
		got, err := a.cluster.ask(q.params(exact))
		if err != nil || !got.Coverage.Complete {
			return got, "", err
		}
		return got, q.difference(&got, exact), nil
	})
}

// judge asks once and counts what comes.
func (a *auditor) judge(what string, ask func() (answer, string, error)) {
	began := time.Now()
	got, wrong, err := ask()
	now := time.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked++
	a.took = append(a.took, now.Sub(began))
	switch {
	case errors.Is(err, errOverloaded):
		a.refused++ // at once, as promised, not answered wrongly
	case err != nil:
		a.fault("%s: %v", what, err)
	case !got.Coverage.Complete:
		a.incomplete++
		if a.lasting.Load() && len(got.Coverage.Missing) == 0 {
			a.fault("%s: incomplete and nobody is missing: %+v", what, got.Coverage)
		}
		if !a.outages.during(began, now) && !a.lasting.Load() {
			a.fault("%s: incomplete while all slaves were up: %+v", what, got.Coverage)
		}
	case !got.Coverage.PricesExact:
		a.fault("%s: complete, and prices are not exact", what)
	case wrong != "":
		a.fault("%s: %s", what, wrong)
	}
}

func (a *auditor) fault(format string, args ...any) {
	if a.wrong++; a.wrong <= 20 {
		a.t.Errorf(time.Now().Format("05.000 ")+format, args...)
	}
}

// watch adds up what is moved: a balancer counts from its start.
func (a *auditor) watch(ctx context.Context) {
	for wait(ctx, 200*time.Millisecond) {
		a.note()
	}
}

func (a *auditor) note() {
	s, err := a.cluster.status()
	if err != nil {
		return // it is being started again
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.moved[s.Epoch] = s
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
	slices.Sort(a.took)
	a.t.Logf("%d asked, %d incomplete while a slave was down (%v), %d refused for overload, %d wrong; p50 %v, p99 %v; %d balancers, view %d, moved %d items, %d bytes",
		a.asked, a.incomplete, a.outages.lengths(), a.refused, a.wrong, a.took[len(a.took)/2], a.took[len(a.took)*99/100], len(a.moved), view, items, bytes)
}
