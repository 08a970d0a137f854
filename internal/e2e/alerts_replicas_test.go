package e2e

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"adshard/barrels"
	"adshard/barrels/rocks"
	"adshard/fault"
	"adshard/internal/clustertest"
	"adshard/internal/node/porttest"
)

// causesOfReplicas are brought about in a cluster of one shard with two replicas, each of which accepts two searches
// at a time.
var causesOfReplicas = []cause{
	{cluster: "replicas", what: "many more queries than the slaves take", alerts: []string{"AdshardOverloaded", "AdshardSecondCallsUsedUp"},
		bring: func(r *alarmed) { r.undo = r.asked(48, 0) },
		end:   func(r *alarmed) { r.undo(); r.asked(1, 20*time.Millisecond) }, ends: []string{"AdshardOverloaded", "AdshardSecondCallsUsedUp"}},
	{cluster: "replicas", what: "a replica that was killed", alerts: []string{"AdshardReplicaLeftOut"},
		bring: func(r *alarmed) { r.parts["slave-1"].Kill() },
		end:   func(r *alarmed) { r.start("slave-1") }, ends: []string{"AdshardReplicaLeftOut"}},
	{cluster: "replicas", what: "a flipped bit in a slave's file, while no balancer is there to fill it again",
		alerts: []string{"AdshardDamage", "AdshardSlaveInRepair"}, bring: flipPostings,
		end: func(r *alarmed) { r.start("balancer") }, ends: []string{"AdshardSlaveInRepair"}},
}

func startReplicas(t *testing.T) *alarmed {
	r := newAlarmed(t)
	balancer, web := porttest.Address(t), porttest.Address(t)
	r.part("balancer", "balancer", "balancer ready ", map[string]any{"db": r.db.URL(), "listen": balancer, "slaves": 2, "replicas": 2})
	for i := range 2 {
		r.slave(i, filepath.Join(t.TempDir(), "store"), balancer, map[string]any{"max_in_flight": 2})
	}
	r.part("master", "master", "master listening ", map[string]any{"http": web, "balancer": balancer})
	r.url = "http://" + web
	r.watched(r.targets["balancer"])
	r.start("balancer", "slave-0", "slave-1", "master")
	r.until("two replicas", func() bool { return r.Whole(2, 2) })
	r.whole()
	return r
}

// flipPostings flips a bit in a file of slave-1 where searches will read it.
func flipPostings(r *alarmed) {
	r.parts["balancer"].Kill()
	r.parts["slave-1"].Stop()
	dir := r.dirs["slave-1"]
	db, err := rocks.Open(dir, rocks.Options{}) // which writes the content of the log into files
	r.must(err)
	r.must(db.Close())
	files, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	r.must(err)
	for _, f := range files {
		if r.spoils(dir, f) {
			r.must(flipAt(f))
			r.start("slave-1")
			return
		}
	}
	r.Fatalf("no bit of %d files is one that searches meet", len(files))
}

// spoils reports whether a flipped bit in a file damages the data of a store, which still opens.
func (r *alarmed) spoils(dir, file string) bool {
	r.Helper()
	spoilt := filepath.Join(r.TempDir(), "store")
	r.must(os.CopyFS(spoilt, os.DirFS(dir)))
	r.must(flipAt(filepath.Join(spoilt, filepath.Base(file))))
	db, err := rocks.Open(spoilt, rocks.Options{})
	if err != nil {
		return false
	}
	s, err := barrels.Open(db, barrels.Options{Name: "slave-1"})
	if err != nil {
		return false
	}
	defer s.Close()
	_, err = s.Certify(r.Context(), 0, ^uint64(0), ^uint64(0), nil)
	return fault.Is(err, fault.Corrupt)
}

// flipAt flips a bit in the first quarter of a file, where the data is.
func flipAt(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return clustertest.FlipAt(f, info.Size()/4, 1)
}
