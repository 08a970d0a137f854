package balancer

import (
	"context"
	"slices"
	"time"

	"adshard/balance"
	"adshard/internal/wait"
)

const (
	// maxSamples bounds the certificates of the database that one question keeps: the
	// newest.
	maxSamples = 256
	// sampleGap is the least time between two of them. The pause after one is at least
	// sampleRest times as long as making it.
	sampleGap, sampleRest = 5 * time.Millisecond, 3
)

// sampling certifies, again and again, a few items of the database that change all the
// time: each state that lasts longer than a turn is found in one of its certificates.
type sampling struct {
	by    *certifier
	asked balance.Certify
	taken []balance.Certificate // in the order of their clocks
	took  time.Duration         // roughly the processor time
}

// newSampling returns a sampling that has taken its first certificate.
func (m *certifier) newSampling(ctx context.Context, c balance.Certify) (*sampling, error) {
	s := &sampling{by: m, asked: c}
	return s, s.sampleOnce(ctx)
}

// start samples until the function that it returns is called. That function returns the
// error that ended the sampling earlier, if any.
func (s *sampling) start(ctx context.Context) (stop func() error) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- s.run(ctx) }()
	return func() error {
		cancel()
		return <-done
	}
}

// run samples until ctx is done, which is no error.
func (s *sampling) run(ctx context.Context) error {
	for {
		begin := time.Now()
		err := s.sampleOnce(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		if wait.Sleep(ctx, max(sampleGap, sampleRest*time.Since(begin))) != nil {
			return nil
		}
	}
}

// sampleOnce makes a certificate. Its clock is that of the list of items, if that is older
// than what is read of them: an item created in between is missing.
func (s *sampling) sampleOnce(ctx context.Context) error {
	keys, listed, err := s.by.wantedKeys(ctx, s.asked, 0)
	if err != nil {
		return err
	}
	c, took, err := s.by.truth.Certify(ctx, keys, nil)
	s.took += took
	if err != nil {
		return err
	}
	c.Clock = min(c.Clock, listed)
	if n := len(s.taken); n > 0 && s.taken[n-1].Bins == c.Bins {
		s.taken[n-1].Clock = max(s.taken[n-1].Clock, c.Clock)
		return nil
	}
	if len(s.taken) == maxSamples {
		s.taken = slices.Delete(s.taken, 0, 1)
	}
	s.taken = append(s.taken, c)
	return nil
}
