package faults

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	strategies "adshard/balance/strategy"
	"adshard/internal/clustertest"
)

// TestSchedules plays the schedules of seeds: see docs/reliability.md.
func TestSchedules(t *testing.T) {
	if testing.Short() {
		t.Skip("short: the schedules take their time")
	}
	s := readSettings(t)
	n := newNetwork()
	stock := newStock(t, n)
	t.Run("the network", func(sub *testing.T) { networked(sub, n) })
	t.Run("a slow disk", slowed)
	if s.out == "" && s.only == nil {
		t.Run("a lost shard", func(sub *testing.T) {
			out := play(t, sub, n, stock, lostShard(), "")
			for _, w := range out.Wrong {
				sub.Error(w)
			}
			if out.Steps[0].Incomplete == 0 {
				sub.Error("no answer was incomplete: no shard was lost")
			}
		})
	}
	for _, seed := range s.seeds() {
		t.Run(name(seed), func(sub *testing.T) {
			plan := draw(seed, s.length)
			if plan.upgrades() {
				plan.programs = s.old
			}
			out := plan.outcome()
			out.Wrong = []string{"it was not played to its end"}
			defer func() { // also after Fatal
				for _, w := range out.Wrong {
					sub.Error(w)
				}
				if err := s.keep(out); err != nil {
					sub.Error(err)
				}
			}()
			out = play(t, sub, n, stock, plan, s.logs)
		})
	}
}

// TestGoneForGood plays goneForGood, if GONE_LONG=1.
func TestGoneForGood(t *testing.T) {
	if os.Getenv("GONE_LONG") == "" {
		t.Skip("it takes a minute: make gone")
	}
	n := newNetwork()
	for _, w := range play(t, t, n, newStock(t, n), goneForGood(), os.Getenv("FAULTS_LOGS")).Wrong {
		t.Error(w)
	}
}

// lostShard kills four of six slaves at once, so that a shard has lost all of its replicas: answers are incomplete,
// and none is wrong. Package mutation plants the defects that this test must notice: a slave that leaves out an ad,
// and a master that does not notice the gap.
func lostShard() *schedule {
	s := &schedule{database: "sqlite", strategy: strategies.Default, order: "hash", length: 4 * time.Second, queries: 100, changes: 50}
	for _, slave := range slaveNames()[:4] {
		s.steps = append(s.steps, step{lasts: time.Second, kind: kind{name: "slave killed"}, fault: kill{on{slave}}})
	}
	s.steps = append(s.steps, pauses(1500*time.Millisecond, 2*time.Second, false)...)
	return s
}

// keep appends an outcome to the file at once, so that it stays if the run is interrupted.
func (s settings) keep(o outcome) error {
	if s.out == "" {
		return nil
	}
	o.Commit, o.Outcome = os.Getenv("FAULTS_COMMIT"), o.judge()
	line, err := json.Marshal(o)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(s.out, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Sync(), f.Close())
}

// play plays a schedule; suite is the test of the whole run.
func play(suite, t *testing.T, n *network, stock *stock, s *schedule, logs string) outcome {
	t.Log("\n" + s.String())
	if logs != "" {
		logs = filepath.Join(logs, strings.ReplaceAll(name(s.seed), " ", "-"))
		if err := os.MkdirAll(logs, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	d := stock.database(suite, t, s.database, s.seed)
	changing, err := clustertest.NewChanges(t.Context(), d.store, true)
	if err != nil {
		t.Fatal(err)
	}
	g := newGrid(t, n, stock, d, s, logs)
	r := &record{out: s.outcome()}
	g.changing, g.load = changing, &load{grid: g, record: r}
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	all.Go(func() { g.keeper(ctx) })
	begun := time.Now()
	if err := g.eventually("everything is up", func() bool { ok, _ := g.whole(); return ok }); err != nil {
		t.Fatal(err)
	}
	t.Logf("up after %v", time.Since(begun).Round(100*time.Millisecond))

	began := time.Now()
	g.suffer(ctx, s, r)
	g.settle(ctx, r)
	out := r.end(began)
	t.Log("\n" + out.String())
	cancel()
	all.Wait()
	g.end()
	out.Wrong = append(out.Wrong, g.unexplained(s)...)
	return out
}

// suffer plays a schedule while the grid is queried and its data changes.
func (g *grid) suffer(ctx context.Context, s *schedule, r *record) {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	all.Go(func() { g.load.run(ctx, s.seed, s.queries) })
	all.Go(func() {
		err := g.changing.Run(ctx, g.client, s.changes, func(error) bool { return s.touches("database") })
		if err != nil {
			r.fail("a change: " + err.Error())
		}
	})
	all.Go(func() { g.watch(ctx, r) })
	began := time.Now()
	played := *s
	played.steps = nil
	for i, why := range s.leftOut(g.machine()) {
		if why == "" {
			played.steps = append(played.steps, s.steps[i])
		} else {
			r.leaveOut(s.steps[i], why)
		}
	}
	played.inOrder(func(st step) { g.suffers(st, r) })
	time.Sleep(time.Until(began.Add(s.length)))
	again := func() error { return g.wholeAgain(r) }
	err := again()
	if err == nil {
		err = g.refused.repeat(g, again)
	}
	if err != nil {
		r.fail(err.Error())
	} else {
		r.whole(time.Now()) // watch may not have looked since
	}
	time.Sleep(500 * time.Millisecond) // more answers while everything is whole
	cancel()
	all.Wait()
}

// wholeAgain waits until everything is whole. If that takes too long, it notes the reason.
func (g *grid) wholeAgain(r *record) error {
	began := time.Now()
	return g.eventually("everything is whole again", func() bool {
		ok, why := g.whole()
		if !ok && time.Since(began) > inTime {
			r.mu.Lock()
			defer r.mu.Unlock()
			if r.out.Late == "" {
				r.out.Late = why
			}
		}
		return ok
	})
}

// inTime is how soon everything should be whole after the last fault. A machine that is busy with other things needs
// longer, so a longer time is only reported; exceeding patience is an error.
const inTime = 30 * time.Second

// touches reports whether a fault of the schedule touches something.
func (s *schedule) touches(what string) bool {
	for _, step := range s.steps {
		for _, name := range step.fault.touches() {
			if name == what {
				return true
			}
		}
	}
	return false
}

// suffers plays one fault.
func (g *grid) suffers(s step, r *record) {
	o := r.begin(s)
	began := time.Now()
	refused := false
	failed := func(what string, err error) {
		text := s.kind.name + " " + s.fault.String() + ", " + what
		switch {
		case errors.Is(err, errRefused):
			refused = true
			r.repeats(o, what)
			g.note("%s: %v", text, err)
		case err != nil:
			r.fail(text + ": " + err.Error())
		}
	}
	failed("do", s.fault.do(g))
	do := refused
	time.Sleep(time.Until(began.Add(s.lasts)))
	r.note(&o.undone)
	failed("undo", s.fault.undo(g))
	r.note(&o.over)
	if refused {
		g.refused.add(s.fault, do)
	}
}

// watch notes when everything is whole, until ctx is done.
func (g *grid) watch(ctx context.Context, r *record) {
	for ctx.Err() == nil {
		at := time.Now()
		if ok, _ := g.whole(); ok {
			r.whole(at)
		}
		time.Sleep(200 * time.Millisecond)
	}
}
