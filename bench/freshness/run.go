package freshness

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"adshard/backend"
	"adshard/bench/measure"
	"adshard/internal/wait"
)

// Config is the configuration of a run.
type Config struct {
	Store backend.Store
	// Search and Admin are the cluster's URLs.
	Search, Admin string
	// Changes is the number of changes of each kind.
	Changes int
	// Patience is how long a change may take before the run fails.
	Patience time.Duration
	// Seed decides the word and the pauses.
	Seed uint64
}

// Kind is one kind of change with its latencies.
type Kind struct {
	Name string
	Took *measure.Latencies
}

// longestPause is the longest time between two changes. It is longer than any
// regular step of the cluster, so that changes come at any time within such a
// step.
const longestPause = 250 * time.Millisecond

// Run makes changes of each kind, one after another, at irregular times.
func Run(ctx context.Context, c Config) (kinds []*Kind, err error) {
	dice := rand.New(rand.NewPCG(c.Seed, uint64(time.Now().UnixNano())))
	r := &run{
		Config: c, dice: dice, scene: newScene(c.Store, dice.Uint64()),
		cluster: cluster{search: c.Search, admin: c.Admin, http: http.Client{Timeout: c.Patience}},
	}
	defer r.cluster.http.CloseIdleConnections()
	defer func() { err = errors.Join(err, r.scene.remove(context.WithoutCancel(ctx))) }()
	if err := r.prepare(ctx); err != nil {
		return nil, err
	}
	for _, k := range r.kinds() {
		took := measure.NewLatencies()
		for i := range c.Changes {
			d, err := r.once(ctx, k, i)
			if err != nil {
				return kinds, fmt.Errorf("%s: %w", k.name, err)
			}
			took.Add(d)
		}
		kinds = append(kinds, &Kind{Name: k.name, Took: took})
	}
	return kinds, nil
}

type run struct {
	Config
	dice    *rand.Rand
	scene   *scene
	cluster cluster
}

// changeKind is one kind of change: change makes the i-th change, shown reports
// whether the advertisers of the ads for the word are those after it.
type changeKind struct {
	name   string
	word   func(i int) string
	change func(ctx context.Context, i int) error
	shown  func(i int, advertisers []string) bool
}

// prepare writes what all changes change, and waits until it is shown.
func (r *run) prepare(ctx context.Context) error {
	if err := r.scene.build(ctx); err != nil {
		return err
	}
	for side, bid := range []uint64{lowBid, highBid} {
		if err := r.scene.keyword(ctx, side, r.scene.word, backend.Enable, bid); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, 10*r.Patience)
	defer cancel()
	return r.cluster.wait(ctx, r.scene.word, func(names []string) bool { return len(names) == 2 })
}

func (r *run) kinds() []changeKind {
	s := r.scene
	word := func(int) string { return s.word }
	second := s.sides[1].name
	gone := func(i int, names []string) bool { return slices.Contains(names, second) == (i%2 == 1) }
	own := func(i int) string { return fmt.Sprintf("%s %s%d", s.word, s.word, i) }
	return []changeKind{
		{
			"new keyword", own,
			func(ctx context.Context, i int) error {
				return s.keyword(ctx, 0, fmt.Sprintf("%s%d", s.word, i), backend.Enable, highBid*10)
			},
			// The second side leads on the common word until the first one has a better
			// keyword.
			func(_ int, names []string) bool { return len(names) == 2 && names[0] == s.sides[0].name },
		},
		{
			"bid", word,
			func(ctx context.Context, i int) error {
				return s.keyword(ctx, 1, s.word, backend.Keep, []uint64{lowBid / 2, highBid}[i%2])
			},
			func(i int, names []string) bool { return len(names) == 2 && (names[0] == second) == (i%2 == 1) },
		},
		{
			"group paused or enabled", word,
			func(ctx context.Context, i int) error {
				return s.status(ctx, 1, []backend.Status{backend.Pause, backend.Enable}[i%2])
			},
			gone,
		},
		{
			"budget exhausted or not", word,
			func(ctx context.Context, i int) error { return r.cluster.budget(ctx, s.sides[1].campaign, i%2 == 0) },
			gone,
		},
	}
}

// once makes one change and returns how long it took to be shown.
func (r *run) once(ctx context.Context, k changeKind, i int) (time.Duration, error) {
	if err := wait.Sleep(ctx, time.Duration(r.dice.Int64N(int64(longestPause)))); err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, r.Patience)
	defer cancel()
	if names, err := r.cluster.ads(ctx, k.word(i)); err != nil {
		return 0, err
	} else if k.shown(i, names) {
		return 0, fmt.Errorf("the ads for %q are %q before the change already", k.word(i), names)
	}
	if err := k.change(ctx, i); err != nil {
		return 0, err
	}
	start := time.Now()
	err := r.cluster.wait(ctx, k.word(i), func(names []string) bool { return k.shown(i, names) })
	return time.Since(start), err
}
