package faults

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"adshard/internal/clustertest"
)

// load queries a grid and judges its answers.
type load struct {
	grid   *grid
	record *record
	under  sync.WaitGroup
}

// run sends queries at a fixed rate, however long the answers take, until ctx is done.
func (l *load) run(ctx context.Context, seed uint64, rate int) {
	dice := rand.New(rand.NewPCG(seed, 2))
	tick := time.NewTicker(time.Second / time.Duration(rate))
	defer tick.Stop()
	defer l.under.Wait()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		ask := l.draw(dice)
		l.under.Go(func() { l.judge(ask) })
	}
}

// ask sends one query; wrong says what is wrong with a complete answer.
type ask func() (what string, a clustertest.Answer, wrong string, err error)

// draw draws a query: most are for data that does not change, some for data that does.
func (l *load) draw(dice *rand.Rand) ask {
	c, changing := l.grid.client, l.grid.changing
	kind, i, exact := dice.IntN(10), dice.IntN(len(l.grid.stock.questions)), dice.IntN(2) == 0
	switch kind {
	case 0:
		return func() (string, clustertest.Answer, string, error) {
			a, wrong, err := changing.One(i%clustertest.Groups, c.AskEither)
			return clustertest.Word(i % clustertest.Groups), a, wrong, err
		}
	case 1:
		return func() (string, clustertest.Answer, string, error) {
			a, wrong, err := changing.All(c.AskEither)
			return "zzall", a, wrong, err
		}
	case 2:
		if i%2 == 0 {
			return func() (string, clustertest.Answer, string, error) { return changing.Shifting.Ask(c) }
		}
		return func() (string, clustertest.Answer, string, error) {
			a, wrong, err := changing.Half(i%clustertest.Groups, c.AskEither)
			return "half of " + clustertest.Word(i%clustertest.Groups), a, wrong, err
		}
	}
	q := &l.grid.stock.questions[i]
	return func() (string, clustertest.Answer, string, error) {
		a, err := c.AskEither(q.Params(exact))
		wrong := ""
		if err == nil && a.Coverage.Complete {
			wrong = q.Difference(&a, exact)
		}
		return q.String(), a, wrong, err
	}
}

// judge sends one query and counts the result.
func (l *load) judge(ask ask) {
	began := time.Now()
	what, a, wrong, err := ask()
	switch {
	case errors.Is(err, clustertest.ErrOverloaded):
		l.record.count(began, func(t *tally) { t.Refused++ })
	case err != nil:
		l.record.count(began, func(t *tally) { t.Failed++ })
	case !a.Coverage.Complete:
		l.record.count(began, func(t *tally) { t.lacks(a.Coverage.Reasons) })
		if len(a.Coverage.Missing) == 0 {
			l.record.wrong(began, fmt.Sprintf("%s: incomplete, and nobody is missing: %+v", what, a.Coverage))
		}
	case !a.Coverage.PricesExact:
		l.record.wrong(began, what+": complete, and prices are not exact")
	case wrong != "":
		l.record.wrong(began, what+": "+wrong)
	default:
		l.record.count(began, func(t *tally) { t.Complete++ })
	}
}

// overload makes a number of clients query as fast as they can.
type overload struct {
	clients int
	seed    uint64
	end     func() // ends it; set while it is under way
}

func burst(dice *rand.Rand, _ *schedule) fault {
	return &overload{clients: 64 << dice.IntN(3), seed: dice.Uint64(), end: func() {}}
}

func (f *overload) String() string  { return fmt.Sprint(f.clients, " clients") }
func (*overload) touches() []string { return []string{"load"} }

func (f *overload) do(g *grid) error {
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for i := range f.clients {
		all.Go(func() {
			for dice := rand.New(rand.NewPCG(f.seed, uint64(i))); ctx.Err() == nil; {
				g.load.judge(g.load.draw(dice))
			}
		})
	}
	f.end = func() { cancel(); all.Wait() }
	return nil
}

func (f *overload) undo(*grid) error { f.end(); return nil }
