package slave

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"adshard/barrels/rocks"
	"adshard/internal/node/admin"
	"adshard/internal/node/copying"
)

// fillByCopy copies the store of the slave at cfg.CopyFrom, if there is none in the
// directory. When ctx ends before, it returns nil, and the next start goes on.
func fillByCopy(ctx context.Context, cfg *Config, log *slog.Logger) error {
	log = log.With("node", cfg.Name)
	if cfg.CopyFrom == "" {
		return copying.Discard(cfg.Dir)
	}
	if rocks.Exists(cfg.Dir) {
		log.Info("there is a store already; nothing is copied", "dir", cfg.Dir)
		return nil
	}
	own := copying.DefaultConfig(cfg.Name, cfg.Dir, log)
	own.Rate = uint64(cfg.CopyRate)
	r, err := copying.FillFrom(ctx, own, cfg.CopyFrom)
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%w; start %s again to go on with the copy, or without --copy-from to fill it from the database", err, cfg.Name)
	}
	log.Info("copied", "from", r.Source, "clock", r.Contents.Position.GetClock(), "bytes", r.Bytes, "fetched", r.Fetched, "took", r.Took)
	return nil
}

// CopyFrom replaces the store of a slave that runs by a copy of the store of the slave at
// an address, which must be of that database ("": any). Until the copy is complete the
// slave serves what it has; then it registers with the copy's position and slices, and
// the balancer decides what it serves of them. After an error the next call goes on with
// what has arrived. Errors: those of copying.Fill and loadproxy.Proxy.Reload.
func (s *Slave) CopyFrom(ctx context.Context, address, database string) error {
	own := copying.DefaultConfig(s.cfg.Name, s.cfg.Dir, s.log)
	own.Rate, own.Database = uint64(s.cfg.CopyRate), database
	if _, err := copying.FillFrom(ctx, own, address); err != nil {
		return err
	}
	return s.proxy.Reload(ctx)
}

// newCopies returns the source from which other slaves copy the store.
func newCopies(cfg *Config, store copying.Store, feed copying.Feed, log *slog.Logger) (*copying.Source, error) {
	own := copying.DefaultSource(cfg.Name, cfg.Dir)
	own.Rate = uint64(cfg.CopyRate)
	var err error
	if own.Trusted, err = copying.ParseTrusted(cfg.TrustedSlaves); err != nil {
		return nil, err
	}
	return copying.NewSource(own, store, feed, log)
}

// copyMetrics registers the metrics of copies of a slave's store.
func copyMetrics(r prometheus.Registerer, s *copying.Source) {
	admin.Gauge(r, "adshard_copies", "Checkpoints of the store that are held for copies.",
		func() float64 { n, _ := s.State(); return float64(n) })
	admin.Count(r, "adshard_copied_bytes_total", "Bytes of the store that were sent to copies.",
		func() float64 { _, sent := s.State(); return float64(sent) })
}
