package hotspots

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"adshard/bench/claims"
	"adshard/bench/measure"
	"adshard/counters"
	"adshard/counters/store"
	"adshard/counters/store/memory"
	"adshard/counters/store/postgres"
	"adshard/counters/store/sqlite"
)

// Plan says what is measured.
type Plan struct {
	// Dir is the directory for files. Postgres is the URL of a database whose table
	// adshard_counters may be emptied; "": PostgreSQL is left out.
	Dir, Postgres string
	// Memory: the in-memory store is measured too.
	Memory bool
	// The experiment of the paper: Users cast Rate votes per second for Duration, evenly on
	// Questions, in Shards shards.
	Rate             float64
	Duration         time.Duration
	Users, Questions int
	Shards           int
	// Least and Most bound the time before each put.
	Least, Most time.Duration
	// Numbers are the numbers of shards to compare.
	Numbers []int
	// Course holds the votes per second on one question, one value for each phase, and Phase is
	// the length of a phase. If Course is empty, this part is left out.
	Course []float64
	Phase  time.Duration
	// Window is the window of adaptive counters, Compact the interval of dynamic ones.
	Window, Compact time.Duration

	paper   []result
	numbers []result
	course  []result
}

// result is the outcome of a voting, and what was measured.
type result struct {
	store, method string
	delayed       bool
	retry         bool
	shards        int // in runNumbers
	phase         int // of the course, from 1; otherwise 0
	*found
}

// shortest is the shortest useful duration.
const shortest = 100 * time.Millisecond

// Validate returns an error if a plan is not valid.
func (p *Plan) Validate() error {
	switch {
	case !(p.Rate > 0 && p.Rate <= 10_000):
		return fmt.Errorf("--rate %v: up to 10,000", p.Rate)
	case p.Duration < shortest || len(p.Course) > 0 && p.Phase < shortest:
		return fmt.Errorf("--duration and --phase: %v or more", shortest)
	case p.Users < 1 || p.Questions < 1:
		return errors.New("--users and --questions: 1 or more")
	case p.Shards < 1 || p.Shards > counters.MaxShards:
		return fmt.Errorf("--shards %d: 1 to %d", p.Shards, counters.MaxShards)
	case p.Least < 0 || p.Most <= p.Least:
		return errors.New("--least and --most: the shortest time before a put, and a longer one")
	case p.Window < 10*time.Millisecond || p.Compact < 10*time.Millisecond:
		return errors.New("--window and --compact: 10 ms or more")
	}
	for _, n := range p.Numbers {
		if n < 1 || n > counters.MaxShards {
			return fmt.Errorf("--numbers %d: 1 to %d", n, counters.MaxShards)
		}
	}
	for _, r := range p.Course {
		if !(r > 0 && r <= 10_000) {
			return fmt.Errorf("--course %v: up to 10,000", r)
		}
	}
	return nil
}

// Run measures what the plan says, and adds figures and claims to a report.
func (p *Plan) Run(ctx context.Context, r *measure.Report) error {
	for _, name := range p.stores() {
		for _, part := range []func(context.Context, string) error{p.runPaper, p.runNumbers, p.runCourse} {
			if err := part(ctx, name); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	p.report(r)
	claims.Note(r, p.claims())
	return nil
}

func (p *Plan) stores() []string {
	list := []string{"SQLite"}
	if p.Postgres != "" {
		list = append(list, "PostgreSQL")
	}
	if p.Memory {
		list = append(list, "memory")
	}
	return list
}

// open opens an empty store; end closes it.
func (p *Plan) open(ctx context.Context, name string) (s store.Store, end func() error, err error) {
	switch name {
	case "memory":
		return memory.New(), func() error { return nil }, nil
	case "SQLite":
		dir, err := os.MkdirTemp(p.Dir, "store-")
		if err != nil {
			return nil, nil, err
		}
		f, err := sqlite.Open(ctx, filepath.Join(dir, "counters.db"))
		if err != nil {
			return nil, nil, err
		}
		return f, func() error { return errors.Join(f.Close(), os.RemoveAll(dir)) }, nil
	}
	db, err := postgres.Open(ctx, p.Postgres)
	if err != nil {
		return nil, nil, err
	}
	if err := emptied(ctx, db); err != nil {
		db.Close()
		return nil, nil, err
	}
	return db, func() error { db.Close(); return nil }, nil
}

// emptied deletes all that is in a store.
func emptied(ctx context.Context, s store.Store) error {
	for {
		items, err := s.List(ctx, "", store.MaxChanges)
		if err != nil || len(items) == 0 {
			return err
		}
		changes := make([]store.Change, len(items))
		for i, it := range items {
			changes[i] = store.Change{Action: store.Delete, Key: it.Key, Version: it.Version}
		}
		if _, err := s.Apply(ctx, changes...); err != nil {
			return err
		}
	}
}

// opened calls f with an empty store, with or without a delay before puts.
func (p *Plan) opened(ctx context.Context, name string, delayed bool, f func(*slow) error) error {
	under, end, err := p.open(ctx, name)
	if err != nil {
		return err
	}
	s := &slow{Store: under}
	if delayed {
		s.least, s.most = p.Least, p.Most
	}
	return errors.Join(f(s), end())
}

// runPaper runs the experiment of the paper.
func (p *Plan) runPaper(ctx context.Context, name string) error {
	for _, delayed := range []bool{true, false} {
		for _, m := range []method{single(), sharded("static", counters.Static(p.Shards), time.Hour)} {
			for attempts := range 2 {
				v := voting{p.Rate, p.Duration, p.Users, p.Questions, 1}
				f, err := p.once(ctx, name, delayed, m, 1-attempts, &v)
				if err != nil {
					return err
				}
				p.paper = append(p.paper, result{store: name, method: m.name, delayed: delayed, retry: attempts == 1, found: f})
			}
		}
	}
	return nil
}

// once makes users vote on an empty store.
func (p *Plan) once(ctx context.Context, name string, delayed bool, m method, attempts int, v *voting) (f *found, err error) {
	err = p.opened(ctx, name, delayed, func(s *slow) error {
		c, err := m.make(s, attempts)
		if err != nil {
			return err
		}
		return with(ctx, c, v.questions, func() error {
			f, err = v.run(ctx, s, c)
			return err
		})
	})
	return f, err
}

// runNumbers runs the paper's experiment, without retries, with several numbers of shards.
func (p *Plan) runNumbers(ctx context.Context, name string) error {
	for _, n := range p.Numbers {
		v := voting{p.Rate, p.Duration, p.Users, p.Questions, 2}
		f, err := p.once(ctx, name, true, sharded("static", counters.Static(n), time.Hour), 1, &v)
		if err != nil {
			return err
		}
		p.numbers = append(p.numbers, result{store: name, method: "static", delayed: true, shards: n, found: f})
	}
	return nil
}

// methods returns the methods of the course.
func (p *Plan) methods() []method {
	first := counters.DefaultRule()
	first.Least, first.Step, first.GrowAfter = 1, 2, 2
	return []method{
		single(), sharded("static", counters.Static(p.Shards), time.Hour), sharded("dynamic", counters.Dynamic(), p.Compact),
		sharded("adaptive", counters.Adaptive(counters.DefaultRule()), p.Window),
		sharded("adaptive, doubling", counters.Adaptive(first), p.Window),
	}
}

// runCourse makes the load on one question rise and fall, with retries. It runs each phase
// with all methods in turn before the next phase, so that other load on the machine affects
// all methods alike.
func (p *Plan) runCourse(ctx context.Context, name string) error {
	if len(p.Course) == 0 {
		return nil
	}
	return p.opened(ctx, name, true, func(s *slow) error {
		var list []counting
		for _, m := range p.methods() {
			c, err := m.make(prefixed{s, m.name}, 0)
			if err != nil {
				return err
			}
			list = append(list, c)
		}
		for i, rate := range p.Course {
			for j, m := range p.methods() {
				v := voting{rate, p.Phase, p.Users, 1, uint64(i)}
				err := with(ctx, list[j], 1, func() error {
					f, err := v.run(ctx, s, list[j])
					p.course = append(p.course, result{store: name, method: m.name, delayed: true, retry: true, phase: i + 1, found: f})
					return err
				})
				if err != nil {
					return err
				}
			}
		}
		return nil
	})
}
