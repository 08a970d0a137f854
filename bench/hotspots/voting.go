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

// voting casts votes at a rate for some time.
type voting struct {
	rate      float64 // votes a second
	duration  time.Duration
	users     int // each has at most one vote in progress
	questions int
	seed      uint64
}

// found is the result of a voting.
type found struct {
	votes, failed int
	counted       int64           // how much the totals grew
	times         []time.Duration // of all votes, from the time when each was due
	puts          int64
	conflicts     int64
	reads         []time.Duration
	parts         int // of a question at the end
}

func (f *found) failures() float64 { return float64(f.failed) / float64(max(f.votes, 1)) }

// perVote returns the number of puts per vote.
func (f *found) perVote() float64 { return float64(f.puts) / float64(max(f.votes, 1)) }

func (f *found) conflictShare() float64 { return float64(f.conflicts) / float64(max(f.puts, 1)) }

// mean returns the mean in milliseconds.
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

// grace is how long votes may take after the last one was due; votes that take longer
// have failed.
const grace = 2 * time.Second

// run makes the users vote at random times on random questions, while another goroutine
// reads.
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
		default: // all users are still busy with earlier votes
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

// read reads a question's total five times a second and returns how long each read took.
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

// count checks that no votes were lost or counted twice.
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

// with calls f while a way of counting does its background work.
func with(ctx context.Context, c counting, questions int, f func() error) error {
	for i := range questions { // so that the first votes need not create the heads
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
