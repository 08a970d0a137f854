package offline

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"adshard/internal/node/nodetest"
	"adshard/schema/pb"
	"adshard/search/words"
)

// BenchmarkBuildBarrels builds barrels.
func BenchmarkBuildBarrels(b *testing.B) { benchmarkBuild(b, openWhole) }

func benchmarkBuild(b *testing.B, open func(string, words.Languages) (wholeStore, error)) {
	r := nodetest.NewDatabase(b)
	r.Write(400, 25, 10, 1_000_000)
	cfg := DefaultConfig()
	cfg.DB = r.URL()
	for i := 0; b.Loop(); i++ {
		cfg.Out = filepath.Join(b.TempDir(), fmt.Sprint(i))
		build := &build{cfg: cfg, begin: time.Now(), open: open}
		_, err := build.run(b.Context(), r.DB)
		r.Must(err)
	}
	b.ReportMetric(float64(b.N)*100_000/b.Elapsed().Seconds(), "keywords/s")
}

// nowhere is a store that discards everything.
type nowhere struct{}

func (nowhere) AddParents([]*pb.Advertiser, []*pb.Campaign) error { return nil }

func (nowhere) Add(*pb.Item) error { return nil }

func (nowhere) Finish(*pb.Position, *pb.SliceTable) error { return nil }

func (nowhere) Close() error { return nil }

// BenchmarkBuildPipeline builds barrels without storing them: it measures only reading, planning
// and encoding.
func BenchmarkBuildPipeline(b *testing.B) {
	benchmarkBuild(b, func(string, words.Languages) (wholeStore, error) { return nowhere{}, nil })
}
