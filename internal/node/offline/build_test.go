package offline

import (
	"os"
	"path/filepath"
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
