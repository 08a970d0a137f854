package paired

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"adshard/bench/layouts"
	"adshard/fault"
	"adshard/internal/outfile"
)

// open counts the correct answers and then builds all layouts one after the
// other. It checks each as soon as it is built.
func (r *run) open(ctx context.Context) error {
	p := r.plan
	for i := range p.Setups {
		s := &p.Setups[i]
		p.progress("counting what is right", float64(i)/float64(len(p.Setups)))
		right, err := Truth(ctx, p.Set, nil, s.Queries)
		if err != nil {
			return err
		}
		r.right = append(r.right, right)
	}
	for i, l := range p.all() {
		e := &entrant{Layout: l, peer: i >= len(p.Layouts), dir: filepath.Join(p.Dir, fmt.Sprintf("%02d", i))}
		err := r.enter(ctx, e)
		if fault.Is(err, fault.Unavailable) {
			why := strings.ReplaceAll(err.Error(), p.Dir, "its directory")
			r.result.Absent = append(r.result.Absent, Absent{Name: l.Name(), Why: why})
			p.progress(l.Name()+" is left out: "+why, -1)
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", l.Name(), err)
		}
	}
	if len(r.entrants) == 0 {
		return fault.Newf(fault.Unavailable, "paired: open", "none of the layouts can be measured here: %s", r.result.Absent[0].Why)
	}
	return nil
}

// enter builds a layout, checks it and measures its size.
func (r *run) enter(ctx context.Context, e *entrant) error {
	before, err := settled()
	if err != nil {
		return err
	}
	if err := r.build(ctx, e, 0); err != nil {
		return err
	}
	if e.size, err = e.store.Size(); err != nil {
		return errors.Join(err, e.store.Close())
	}
	if share := r.plan.CacheShare; share > 0 && e.size.Disk > 0 {
		// The size on disk is known only now.
		if err := errors.Join(e.store.Close(), os.RemoveAll(e.dir)); err != nil {
			return err
		}
		if err := r.build(ctx, e, max(1, uint64(share*float64(e.size.Disk)))); err != nil {
			return err
		}
	}
	r.entrants = append(r.entrants, e) // from now on, close closes it
	if r.plan.Changes.any() {
		if _, ok := e.store.(layouts.Changer); !ok {
			r.entrants = r.entrants[:len(r.entrants)-1]
			return errors.Join(e.store.Close(), fault.Newf(fault.Unavailable, "", "its keywords cannot change"))
		}
	}
	if err := r.firstTime(ctx, e); err != nil {
		return err
	}
	if err := r.check(ctx, e); err != nil {
		return err
	}
	return e.measure(before)
}

func (r *run) build(ctx context.Context, e *entrant, cache uint64) error {
	if err := outfile.MakeDir(e.dir); err != nil {
		return err
	}
	what := "building " + e.Name()
	r.plan.progress(what, 0)
	start := time.Now()
	store, err := e.Build(ctx, r.plan.Set, layouts.Options{
		Dir: e.dir, CacheBytes: cache, Progress: func(done float64) { r.plan.progress(what, done) },
	})
	if err != nil {
		return err
	}
	e.store, e.seconds = store, time.Since(start).Seconds()
	return nil
}

// measure measures the size of a store that was searched. Its memory is the
// growth of this process, or what the store reports, if that is more: a peer has
// its own processes, and reused memory cannot be seen from outside.
func (e *entrant) measure(before uint64) (err error) {
	if e.size, err = e.store.Size(); err != nil {
		return err
	}
	after, err := settled()
	if after > before {
		e.size.Memory = max(e.size.Memory, after-before)
	}
	return err
}

// check asks a store all queries of all setups and compares the answers.
func (r *run) check(ctx context.Context, e *entrant) error {
	for i := range r.plan.Setups {
		s := &r.plan.Setups[i]
		r.plan.progress("checking "+e.Name(), float64(i)/float64(len(r.plan.Setups)))
		got, err := r.ask(ctx, e, s)
		if err != nil {
			return fmt.Errorf("setup %s: %w", s.Name, err)
		}
		if err := compare(e, s, got, r.right[i]); err != nil {
			return err
		}
		if err := r.best.compare(e, s, got); err != nil {
			return err
		}
	}
	return nil
}

// ask asks all queries of a setup once.
func (r *run) ask(ctx context.Context, e *entrant, s *layouts.Setup) (_ []layouts.Found, err error) {
	searcher, err := e.store.Searcher()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, searcher.Close()) }()
	got := make([]layouts.Found, len(s.Queries))
	for i, q := range s.Queries {
		f, err := searcher.Search(ctx, q)
		if err != nil {
			return nil, fmt.Errorf("query %q: %w", q.Text, err)
		}
		f.Best = slices.Clone(f.Best) // the next search may change it
		got[i] = f
	}
	return got, nil
}

// checkChanged asks every store whose keywords were changed once more, and
// compares its answers with a new count.
func (r *run) checkChanged(ctx context.Context, s *layouts.Setup) error {
	for _, e := range r.entrants {
		if e.like == nil {
			continue
		}
		right, err := Truth(ctx, r.plan.Set, e.like, s.Queries)
		if err != nil {
			return err
		}
		got, err := r.ask(ctx, e, s)
		if err != nil {
			return fmt.Errorf("%s on setup %s, after changes: %w", e.Name(), s.Name, err)
		}
		if err := compare(e, s, got, right); err != nil {
			return fmt.Errorf("after changes: %w", err)
		}
	}
	return nil
}
