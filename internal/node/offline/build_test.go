package offline

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adshard/fault"
)

func TestBuildBarrelsRefuses(t *testing.T) {
	if _, err := Build(t.Context(), Config{}, nil); !fault.Is(err, fault.Invalid) {
		t.Errorf("empty configuration: %v", err)
	}
	cfg := DefaultConfig()
	cfg.DB, cfg.Out = "sqlite:"+filepath.Join(t.TempDir(), "none.db"), t.TempDir()
	if _, err := Build(t.Context(), cfg, nil); err == nil {
		t.Error("a database that is not there was opened")
	}
	if list, _ := os.ReadDir(cfg.Out); len(list) != 0 {
		t.Errorf("left behind: %v", list)
	}
}

// TestDefaultsAreANewClusters: stores built with default options are the same that a new cluster
// would make.
func TestDefaultsAreANewClusters(t *testing.T) {
	cfg := DefaultConfig()
	if cfg.Order != "hash" || cfg.Strategy != "weighted-move-fast" {
		t.Errorf("the defaults are %s and %s", cfg.Order, cfg.Strategy)
	}
	cfg.DB, cfg.Out, cfg.Strategy = "sqlite:ads.db", "built", "original"
	if err := cfg.Validate(); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "--order advertiser") {
		t.Errorf("original in the order hash: %v", err)
	}
	cfg.Order = "advertiser"
	if err := cfg.Validate(); err != nil {
		t.Error(err)
	}
}
