package offline

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"adshard/backend/backendtest"
	"adshard/backend/sqlite"
	"adshard/barrels/rocks"
	"adshard/fault"
	"adshard/internal/node/home"
	"adshard/internal/node/memlimit"
	"adshard/internal/node/slave"
	"adshard/schema/pb"
	"adshard/search/words"
)

// stepping is a store under construction that reports when a step is complete.
type stepping struct {
	wholeStore
	step func()
}

func (s *stepping) AddParents(a []*pb.Advertiser, c []*pb.Campaign) error {
	defer s.step()
	return s.wholeStore.AddParents(a, c)
}

func (s *stepping) Finish(at *pb.Position, slices *pb.SliceTable) error {
	defer s.step()
	return s.wholeStore.Finish(at, slices)
}

// TestKilledAtEachStep: after whichever step a build is killed, the directory is refused as the data of a cluster, and anything with the
// name of a store is a complete one. A build that is started again completes, or says what is in its way.
func TestKilledAtEachStep(t *testing.T) {
	cfg := DefaultConfig()
	cfg.Slaves, cfg.DB, cfg.Out = 2, "sqlite:"+filepath.Join(t.TempDir(), "ads.db"), filepath.Join(t.TempDir(), "built")
	db, err := sqlite.Open(t.Context(), cfg.DB[len("sqlite:"):], sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	backendtest.Fill(t, db, 200)
	var left []string
	step := func() {
		killed := filepath.Join(t.TempDir(), "built")
		if err := os.CopyFS(killed, os.DirFS(cfg.Out)); err != nil {
			t.Fatal(err)
		}
		left = append(left, killed)
	}
	b := &build{cfg: cfg, begin: time.Now(), open: func(dir string, languages words.Languages) (wholeStore, error) {
		s, err := openWhole(dir, languages)
		if err == nil {
			step()
		}
		return &stepping{s, step}, err
	}}
	sum, err := b.run(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	step() // all stores are built, but nothing records that yet
	if len(left) < 3*cfg.Slaves+1 {
		t.Errorf("%d steps", len(left))
	}
	begun, finished := 0, 0
	for n, killed := range left {
		if _, err := home.Open(t.Context(), home.Config{Path: killed, Built: true, Slaves: cfg.Slaves, DB: cfg.DB}, db); !fault.Is(err, fault.NotFound) {
			t.Errorf("after step %d: %v", n, err)
		}
		stores := 0
		for i, built := range sum.Stores {
			if dir := filepath.Join(killed, home.StoreName(i)); rocks.Exists(dir) {
				stores++
				isWhole(t, dir, built)
			} else if _, err := os.Stat(dir); err == nil {
				t.Errorf("after step %d: %s is not a store", n, dir)
			}
		}
		again := cfg
		again.Out = killed
		if _, err := Build(t.Context(), again, nil); stores == 0 && err != nil || stores > 0 && !fault.Is(err, fault.Conflict) {
			t.Errorf("built again after step %d, with %d stores: %v", n, stores, err)
		}
		if finished += stores; stores == 0 {
			begun++
		}
	}
	if begun == 0 || finished == 0 {
		t.Errorf("%d builds were begun, %d stores finished", begun, finished)
	}
	if err := home.Create(t.Context(), cfg.Out, cfg.Slaves, cfg.Order, db); err != nil {
		t.Fatal(err)
	}
	if _, err := home.Open(t.Context(), home.Config{Path: cfg.Out, Built: true, Slaves: cfg.Slaves, DB: cfg.DB}, db); err != nil {
		t.Errorf("all of it: %v", err)
	}
}

func isWhole(t *testing.T, dir string, built Store) {
	t.Helper()
	s, err := slave.OpenStore(&slave.Config{Dir: dir}, memlimit.Plan{Data: 8 << 20, Cache: 1 << 20, Buffers: 4 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if is := s.Stats(); is.Groups != built.Groups || is.Keywords != built.Keywords {
		t.Errorf("%s has %+v, built were %+v", dir, is, built)
	}
}
