package collector

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"adshard/internal/wait"
)

// watch checks budgets again and again.
type watch struct {
	look    func(context.Context) error
	every   time.Duration
	failed  prometheus.Counter
	trouble atomic.Pointer[error] // the error of the last check, or nil
}

// lookTime bounds one check.
const lookTime = 10 * time.Second

// run makes the checks until ctx is done.
func (w *watch) run(ctx context.Context, log *slog.Logger) {
	for {
		limited, cancel := context.WithTimeout(ctx, lookTime)
		err := w.look(limited)
		cancel()
		if ctx.Err() != nil {
			return
		}
		w.record(err, log)
		if wait.Sleep(ctx, w.every) != nil {
			return
		}
	}
}

// record stores the outcome of a check, and logs it when it changes.
func (w *watch) record(err error, log *slog.Logger) {
	before := w.trouble.Load()
	if err == nil {
		w.trouble.Store(nil)
		if before != nil {
			log.Info("budgets are looked at again")
		}
		return
	}
	w.trouble.Store(&err)
	w.failed.Inc()
	if before == nil {
		log.Error("budgets cannot be looked at: campaigns may spend more than theirs", "err", err)
	}
}
