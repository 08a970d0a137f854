package slave

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"adshard/balance/cluster"
	"adshard/barrels/rocks"
	"adshard/internal/node/copying"
	"adshard/internal/node/metrics"
	"adshard/schema/pb"
)

// copier replaces the store in the slave's directory by a copy of another slave's store.
type copier struct {
	cfg *Config
	log *slog.Logger
	now atomic.Pointer[underway] // the copy under way, or nil if there is none
}

// underway is a copy that is under way.
type underway struct {
	source   string
	progress copying.Progress
}

// Copy implements loadproxy.Copier.
func (c *copier) Copy(ctx context.Context, source *pb.Replica, database string) error {
	at := &underway{source: source.GetName()}
	c.now.Store(at)
	defer c.now.Store(nil)
	own := copying.DefaultConfig(c.cfg.Name, c.cfg.Dir, c.log)
	own.Languages = c.cfg.Languages
	own.Rate, own.Database, own.Instance, own.Progress = uint64(c.cfg.CopyRate), database, source.GetInstance(), &at.progress
	if own.Own = c.cfg.Credentials; source.GetName() != source.GetAddress() { // otherwise the name is the address of copy_from
		own.From = source.GetName()
	}
	r, err := copying.FillFrom(ctx, own, source.GetAddress())
	if err != nil {
		return err
	}
	c.log.Info("copied", "from", r.Source, "clock", r.Contents.Position.GetClock(), "bytes", r.Bytes, "fetched", r.Fetched, "took", r.Took)
	return nil
}

// Copying implements loadproxy.Copier.
func (c *copier) Copying() *pb.CopyState {
	at := c.now.Load()
	if at == nil {
		return nil
	}
	s := &pb.CopyState{Source: at.source}
	s.Bytes, s.Total, s.PerSecond = at.progress.State()
	return s
}

// Discard implements loadproxy.Copier.
func (c *copier) Discard() error { return copying.Discard(c.cfg.Dir) }

// describe says how far the copy under way has come. It returns "" if there is none.
func (c *copier) describe() string {
	s := c.Copying()
	if s == nil {
		return ""
	}
	text := fmt.Sprintf("%s copies the store of %s", c.cfg.Name, s.GetSource())
	if s.GetTotal() == 0 {
		return text
	}
	const mib = 1 << 20
	text += fmt.Sprintf(": %.1f of %.1f MiB, %.1f MiB/s", float64(s.GetBytes())/mib, float64(s.GetTotal())/mib, float64(s.GetPerSecond())/mib)
	state := cluster.CopyState{Bytes: s.GetBytes(), Total: s.GetTotal(), PerSecond: s.GetPerSecond()}
	if left, ok := state.Left(); ok {
		text += fmt.Sprintf(", %v left", left.Round(time.Second))
	}
	return text
}

// atStart copies the store of the slave at cfg.CopyFrom, if there is none in the directory. If ctx
// ends first, it returns nil, and the next start continues the copy.
func (c *copier) atStart(ctx context.Context) error {
	if c.cfg.CopyFrom == "" {
		return nil
	}
	if rocks.Exists(c.cfg.Dir) {
		c.log.Info("there is a store already; nothing is copied", "dir", c.cfg.Dir)
		return nil
	}
	err := c.Copy(ctx, &pb.Replica{Name: c.cfg.CopyFrom, Address: c.cfg.CopyFrom}, "")
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%w; start %s again to go on with the copy, or without --copy-from to fill it as the balancer decides", err, c.cfg.Name)
	}
	return nil
}

// newCopies returns the source from which other slaves copy this slave's store.
func newCopies(cfg *Config, instance uint64, store copying.Store, feed copying.Feed, log *slog.Logger) (*copying.Source, error) {
	own := copying.DefaultSource(cfg.Name, cfg.Dir)
	own.Languages = cfg.Languages
	own.Rate, own.Instance = uint64(cfg.CopyRate), instance
	var err error
	if own.Trusted, err = copying.ParseTrusted(cfg.TrustedSlaves); err != nil {
		return nil, err
	}
	return copying.NewSource(own, store, feed, log)
}

// copyMetrics registers the metrics of copies of a slave's store.
func copyMetrics(r prometheus.Registerer, s *copying.Source) {
	metrics.Gauge(r, "adshard_copies", "Checkpoints of the store that are held for copies.",
		func() float64 { n, _ := s.State(); return float64(n) })
	metrics.Count(r, "adshard_copied_bytes_total", "Bytes of the store that were sent to copies.",
		func() float64 { _, sent := s.State(); return float64(sent) })
}
