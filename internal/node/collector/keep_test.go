package collector_test

import (
	"testing"

	"adshard/events"
	"adshard/fault"
	"adshard/internal/node/collector"
	"adshard/internal/node/nodetest"
)

// TestEventsOfAnother: a collector does not count into the events of another database.
func TestEventsOfAnother(t *testing.T) {
	r := newRig(t, 1)
	r.run("collector-0")
	cfg := collector.DefaultConfig()
	cfg.DB, cfg.Events, cfg.HTTP = nodetest.NewDatabase(t).URL(), r.URL()+"-events", "127.0.0.1:0"
	if err := r.refused(cfg); !fault.Is(err, fault.Conflict) {
		t.Errorf("%v", err)
	}
}

// TestKeepEvents: single events are kept for as long as the configuration says, and at least as
// long as their tokens are accepted.
func TestKeepEvents(t *testing.T) {
	cfg := collector.DefaultConfig()
	cfg.DB = "sqlite:x.db"
	if cfg.KeepEvents != events.Remembered || cfg.Validate() != nil {
		t.Errorf("by default %v, %v", cfg.KeepEvents, cfg.Validate())
	}
	if cfg.KeepEvents = events.Remembered - 1; cfg.Validate() == nil {
		t.Error("events may be forgotten while their tokens live")
	}
}
