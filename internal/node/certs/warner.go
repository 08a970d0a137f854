package certs

import (
	"context"
	"log/slog"
	"time"
)

// warner warns of a certificate that expires soon.
type warner struct {
	own    *watched[material]
	advice string
	log    *slog.Logger
	last   time.Time
}

// run calls look every ten seconds until ctx is done.
func (w *warner) run(ctx context.Context) {
	tick := time.NewTicker(10 * time.Second)
	defer tick.Stop()
	for {
		w.look()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// look reads the files again if they have changed. It warns once an hour during the last quarter of
// the certificate's lifetime.
func (w *warner) look() {
	leaf := w.own.get().leaf
	left, life := time.Until(leaf.NotAfter), leaf.NotAfter.Sub(leaf.NotBefore)
	if left < life/4 && time.Since(w.last) > time.Hour {
		w.log.Warn("the certificate expires soon; "+w.advice, "subject", leaf.Subject.String(), "left", left.Round(time.Minute), "until", leaf.NotAfter)
		w.last = time.Now()
	}
}
