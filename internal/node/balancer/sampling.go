package balancer

import (
	"context"
	"slices"
	"time"

	"adshard/balance"
	"adshard/internal/wait"
)

const (
	// maxSamples bounds the database certificates that are kept for one question; the newest are
	// kept.
	maxSamples = 256
	// sampleGap is the least time between two certificates. The pause after each is also at least
	// sampleRest times as long as it took to make.
	sampleGap, sampleRest = 5 * time.Millisecond, 3
)

// sampling certifies again and again a few items of the database that change all the time. Each
// state that lasts longer than one round is found in one of its certificates.
type sampling struct {
	by    *certifier
	asked balance.Certify
	taken []balance.Certificate // in the order of clocks
	took  time.Duration         // approximate processor time
}

// newSampling returns a sampling with its first certificate.
func (m *certifier) newSampling(ctx context.Context, c balance.Certify) (*sampling, error) {
	s := &sampling{by: m, asked: c}
	return s, s.sampleOnce(ctx)
}

// start takes samples until the returned function is called. That function returns the error that
// ended the sampling early, or nil.
func (s *sampling) start(ctx context.Context) (stop func() error) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- s.run(ctx) }()
	return func() error {
		cancel()
		return <-done
	}
}

// run takes samples until ctx is done, and then returns nil.
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

// sampleOnce makes a certificate. If the list of items is older than their contents, the
// certificate gets the clock of the list, since items created in between are missing.
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
