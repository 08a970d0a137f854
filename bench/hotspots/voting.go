package hotspots

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"adshard/fault"
	"adshard/internal/wait"
)

// voting is votes at a rate for some time.
type voting struct {
	rate      float64 // votes a second
	duration  time.Duration
	users     int // a user has one vote under way
	questions int
	seed      uint64
}

// found is what a voting gave.
type found struct {
	votes, failed int
	counted       int64           // votes that were in the totals afterwards, beyond those before
	times         []time.Duration // of all votes, from the time at which each was due
	puts          int64
	conflicts     int64
	reads         []time.Duration
	parts         int // of a question at the end
}

func (f *found) failures() float64 { return float64(f.failed) / float64(max(f.votes, 1)) }

// perVote is how many puts a vote took.
func (f *found) perVote() float64 { return float64(f.puts) / float64(max(f.votes, 1)) }

func (f *found) conflictShare() float64 { return float64(f.conflicts) / float64(max(f.puts, 1)) }

// mean and p99 are in milliseconds.
func mean(times []time.Duration) float64 {
	var sum time.Duration
	for _, t := range times {
		sum += t
	}
	return millis(sum) / float64(max(len(times), 1))
}

func p99(times []time.Duration) float64 {
	if len(times) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(times))
	return millis(sorted[(len(sorted)-1)*99/100])
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func question(i int) string { return fmt.Sprint("question ", i) }

// grace is how long votes may go on after the last one was due; those that have not ended
// then have failed.
const grace = 2 * time.Second

// run lets the users vote, at random times, on random questions, while one reads.
func (v *voting) run(ctx context.Context, s *slow, c counting) (*found, error) {
	before, err := v.totals(ctx, c)
	if err != nil {
		return nil, err
	}
	f := new(found)
	puts, conflicts := s.puts.Load(), s.conflicts.Load()
	ctx, stop := context.WithTimeout(ctx, v.duration+grace)
	defer stop()
	var mu sync.Mutex
	var unexpected []error
	var all, reader sync.WaitGroup
	reading, enough := context.WithCancel(ctx)
	reader.Go(func() { f.reads = v.read(reading, c) })
	begin := time.Now()
	r := rand.New(rand.NewPCG(v.seed, 1))
	due := time.Duration(0)
	under := make(chan struct{}, v.users)
	for {
		due += time.Duration(r.ExpFloat64() / v.rate * float64(time.Second))
		if due > v.duration || wait.Sleep(ctx, time.Until(begin.Add(due))) != nil {
			break
		}
		f.votes++
		select {
		case under <- struct{}{}:
		default: // all users wait for earlier votes
			mu.Lock()
			f.failed++
			mu.Unlock()
			continue
		}
		at, on := begin.Add(due), question(r.IntN(v.questions))
		all.Go(func() {
			err := c.vote(ctx, on)
			took := time.Since(at)
			<-under
			mu.Lock()
			defer mu.Unlock()
			f.times = append(f.times, took)
			if err != nil {
				f.failed++
			}
			if err != nil && !fault.Is(err, fault.Conflict) && ctx.Err() == nil {
				unexpected = append(unexpected, err)
			}
		})
	}
	all.Wait()
	enough()
	reader.Wait()
	f.puts, f.conflicts = s.puts.Load()-puts, s.conflicts.Load()-conflicts
	return f, errors.Join(errors.Join(unexpected...), v.count(context.WithoutCancel(ctx), c, f, before))
}

// read reads a question five times a second.
func (v *voting) read(ctx context.Context, c counting) (times []time.Duration) {
	for wait.Sleep(ctx, 200*time.Millisecond) == nil {
		begin := time.Now()
		if _, err := c.total(ctx, question(0)); err == nil {
			times = append(times, time.Since(begin))
		}
	}
	return times
}

func (v *voting) totals(ctx context.Context, c counting) (sum int64, err error) {
	for i := range v.questions {
		n, err := c.total(ctx, question(i))
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

// count sees that votes were neither lost nor doubled.
func (v *voting) count(ctx context.Context, c counting, f *found, before int64) error {
	after, err := v.totals(ctx, c)
	if err != nil {
		return err
	}
	if f.parts, err = c.parts(ctx, question(0)); err != nil {
		return err
	}
	f.counted = after - before
	if ok := int64(f.votes - f.failed); f.counted < ok || f.counted > int64(f.votes) {
		return fmt.Errorf("%d of %d votes succeeded, but %d were counted", ok, f.votes, f.counted)
	}
	return nil
}

// with calls f while the background work of a way of counting runs.
func with(ctx context.Context, c counting, questions int, f func() error) error {
	for i := range questions { // so that the first votes do not make the heads
		if err := c.vote(ctx, question(i)); err != nil {
			return err
		}
	}
	keeping, stop := context.WithCancel(ctx)
	var keeper sync.WaitGroup
	var mu sync.Mutex
	var noted []error
	keeper.Go(func() {
		c.keep(keeping, func(err error) {
			mu.Lock()
			defer mu.Unlock()
			noted = append(noted, err)
		})
	})
	err := f()
	stop()
	keeper.Wait()
	return errors.Join(append(noted, err)...)
}
