package fanout

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"adshard/balance/maps"
	"adshard/schema/pb"
)

// TestViewsAreQuiet: a map is logged when its shards or its epoch change, but not for each of the
// many views in which only slices move.
func TestViewsAreQuiet(t *testing.T) {
	var out bytes.Buffer
	w := NewWatcher("master-0", newSource(), nil, new(links).dial, slog.New(slog.NewTextHandler(&out, nil)))
	defer w.Close()
	for i, c := range []struct {
		epoch, view uint64
		address     string
		lines       int
	}{{1, 1, "a:1", 1}, {1, 2, "a:1", 1}, {1, 3, "a:1", 1}, {1, 4, "a:2", 2}, {2, 4, "a:2", 3}, {2, 5, "a:2", 3}} {
		_, err := w.take([]*pb.Shard{at("a", c.address)}, maps.Version{Epoch: c.epoch, View: c.view})
		if got := strings.Count(out.String(), "msg=map"); err != nil || got != c.lines {
			t.Errorf("%d: %v, %d lines:\n%s", i, err, got, &out)
		}
	}
}
