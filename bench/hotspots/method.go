package hotspots

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"adshard/counters"
	"adshard/counters/store"
	"adshard/fault"
	"adshard/internal/wait"
)

// counting is a way of counting votes.
type counting interface {
	vote(ctx context.Context, question string) error
	total(ctx context.Context, question string) (int64, error)
	// keep does the background work until ctx is done.
	keep(ctx context.Context, note func(error))
	// parts returns the number of shards or rows that hold a question's votes.
	parts(ctx context.Context, question string) (int, error)
}

// method is a way of counting with its name.
type method struct {
	name string
	make func(s store.Store, attempts int) (counting, error)
}

// single returns the paper's naive implementation.
func single() method {
	return method{"single row", func(s store.Store, attempts int) (counting, error) { return &row{s, attempts}, nil }}
}

// sharded returns a family of counters with background work at an interval.
func sharded(name string, m counters.Mode, interval time.Duration) method {
	return method{name, func(s store.Store, attempts int) (counting, error) {
		f, err := counters.New(s, counters.Sum[int64](), m, counters.Options{Attempts: attempts})
		return &family{f, interval}, err
	}}
}

type family struct {
	*counters.Family[int64]
	interval time.Duration
}

func (f *family) vote(ctx context.Context, question string) error {
	return f.Update(ctx, question, func(n int64) int64 { return n + 1 })
}

func (f *family) total(ctx context.Context, question string) (int64, error) {
	return f.Value(ctx, question)
}

func (f *family) keep(ctx context.Context, note func(error)) {
	_ = f.Run(ctx, f.interval, note) // it ends with ctx
}

func (f *family) parts(ctx context.Context, question string) (int, error) {
	_, parts, err := f.Shards(ctx, question)
	return parts, err
}

// row counts the votes of each question in one row, which it reads and puts.
type row struct {
	store    store.Store
	attempts int
}

func (r *row) vote(ctx context.Context, question string) error {
	for tries := 1; ; tries++ {
		it, n, err := r.read(ctx, question)
		if err != nil {
			return err
		}
		_, err = r.store.Apply(ctx, store.Change{Key: it.Key, Version: it.Version, Value: strconv.AppendInt(nil, n+1, 10)})
		if !fault.Is(err, fault.Conflict) || tries == r.attempts {
			return err
		}
		pause := time.Duration(rand.Int64N(int64(time.Millisecond << min(tries-1, 6)))) // as package counters does
		if err := wait.Sleep(ctx, pause); err != nil {
			return err
		}
	}
}

func (r *row) read(ctx context.Context, question string) (store.Item, int64, error) {
	it, err := r.store.Get(ctx, "row/"+question)
	if err != nil || it.Version == 0 {
		return it, 0, err
	}
	n, err := strconv.ParseInt(string(it.Value), 10, 64)
	if err != nil {
		return it, 0, fmt.Errorf("the row of %s: %w", question, err)
	}
	return it, n, nil
}

func (r *row) total(ctx context.Context, question string) (int64, error) {
	_, n, err := r.read(ctx, question)
	return n, err
}

func (r *row) keep(context.Context, func(error)) {}

func (r *row) parts(context.Context, string) (int, error) { return 1, nil }
