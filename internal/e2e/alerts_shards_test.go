package e2e

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"adshard/barrels/barreltest"
	"adshard/barrels/block"
	"adshard/barrels/kv"
	"adshard/barrels/rocks"
	"adshard/internal/node/porttest"
	"adshard/schema/fb"
)

// causesOfShards are brought about in a cluster of three slaves without replicas.
var causesOfShards = []cause{
	{cluster: "shards", what: "a slave that has not been started", alerts: []string{"AdshardNotFilled", "AdshardFailedAnswers"},
		bring: func(r *alarmed) { r.start("balancer", "slave-0", "slave-2", "master"); r.asked(4, 20*time.Millisecond) },
		end:   func(r *alarmed) { r.start("slave-1"); r.whole() }, ends: []string{"AdshardNotFilled", "AdshardFailedAnswers", "AdshardTargetDown"}},
	{cluster: "shards", what: "options of a strategy that do not fit the slaves", alerts: []string{"AdshardProposalsRefused"},
		bring: func(r *alarmed) {
			r.post("/v1/balance/strategy", map[string]any{"name": "consistent-random", "options": map[string]string{"factor": "1000"}})
		},
		end: func(r *alarmed) { r.post("/v1/balance/strategy", map[string]any{"name": "weighted-move-fast"}) }},
	{cluster: "shards", what: "more peers than a slave may have files", alerts: []string{"AdshardConnectionsEvicted"}, bring: crowdPeers},
	{cluster: "shards", what: "a balancer that was killed", alerts: []string{"AdshardNoBalancerLeads", "AdshardTargetDown"},
		bring: func(r *alarmed) { r.parts["balancer"].Kill() },
		end:   func(r *alarmed) { r.start("balancer") }, ends: []string{"AdshardNoBalancerLeads", "AdshardTargetDown"}},
	{cluster: "shards", what: "a full disk while a slice of other slaves moves", alerts: []string{"AdshardSlaveInTrouble", "AdshardSlaveStuck", "AdshardMapNotPublished"},
		bring: func(r *alarmed) {
			r.fillDisk()
			r.db.Write(4, 4, 5, 2_000_000)
			r.moves("slave-1", "slave-2")
		},
		end: (*alarmed).ended, ends: []string{"AdshardSlaveInTrouble", "AdshardSlaveStuck", "AdshardMapNotPublished"}},
	{cluster: "shards", what: "a slave that hangs", alerts: []string{"AdshardIncompleteAnswers", "AdshardShardMissing"},
		bring: func(r *alarmed) { r.must(r.parts["slave-1"].Signal(syscall.SIGSTOP)) },
		end:   func(r *alarmed) { r.must(r.parts["slave-1"].Signal(syscall.SIGCONT)) },
		ends:  []string{"AdshardIncompleteAnswers", "AdshardShardMissing"}},
	{cluster: "shards", what: "a slave that has a processor for a part of the time", alerts: []string{"AdshardSlowAnswers"},
		bring: func(r *alarmed) { r.undo = r.starves("slave-1") }, end: (*alarmed).ended, ends: []string{"AdshardSlowAnswers"}},
	{cluster: "shards", what: "a slave that was killed", alerts: []string{"AdshardTargetDown", "AdshardIncompleteAnswers"}, long: true,
		bring: func(r *alarmed) { r.parts["slave-1"].Kill() },
		end:   func(r *alarmed) { r.start("slave-1") }, ends: []string{"AdshardTargetDown", "AdshardIncompleteAnswers"}},
	{cluster: "shards", what: "a store with different bids than the database, and no room to discard them",
		alerts: []string{"AdshardCopiesDiffer", "AdshardCondemnedSlices"}, bring: tamper,
		end: (*alarmed).ended, ends: []string{"AdshardCondemnedSlices"}},
}

// startShards configures a balancer, three slaves and a master, which the first cause starts. slave-0 has a small
// disk, slave-1 may open only few files, and scrubs begin every second.
func startShards(t *testing.T) *alarmed {
	r := newAlarmed(t)
	disk := barreltest.SmallDisk(t, "96m")
	balancer, web := porttest.Address(t), porttest.Address(t)
	share := map[string]any{"share": 100}
	r.part("balancer", "balancer", "balancer ready ", map[string]any{"db": r.db.URL(), "listen": balancer, "slaves": 3, "interval": "1s",
		"scrub_interval": "1s", "scrub_share": 1, "limits": map[string]any{"slave-0": share, "slave-1": share, "slave-2": share}})
	r.slave(0, filepath.Join(disk, "store"), balancer, nil)
	r.slave(1, filepath.Join(t.TempDir(), "store"), balancer, nil).Under =
		[]string{"sh", "-c", `ulimit -n 128 && exec "$@"`, "sh"}
	r.slave(2, filepath.Join(t.TempDir(), "store"), balancer, nil)
	r.part("master", "master", "master listening ", map[string]any{"http": web, "balancer": balancer})
	r.url = "http://" + web
	t.Cleanup(func() { _ = r.parts["slave-1"].Signal(syscall.SIGCONT) }) // before it is to end
	r.watched(r.targets["balancer"])
	return r
}

// ended calls undo, which ends the current cause.
func (r *alarmed) ended() { r.undo() }

// crowdPeers opens connections to a slave, and sends nothing on them.
func crowdPeers(r *alarmed) {
	for range 64 {
		c, err := net.Dial("tcp", r.listens["slave-1"])
		r.must(err)
		r.Cleanup(func() { _ = c.Close() })
	}
}

// starves stops a process for 0.3 s and lets it run for 0.05 s, again and again, until stop is called.
func (r *alarmed) starves(name string) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var starving sync.WaitGroup
	starving.Go(func() {
		for ctx.Err() == nil {
			_ = r.parts[name].Signal(syscall.SIGSTOP)
			time.Sleep(300 * time.Millisecond)
			_ = r.parts[name].Signal(syscall.SIGCONT)
			time.Sleep(50 * time.Millisecond)
		}
	})
	stop = sync.OnceFunc(func() { cancel(); starving.Wait() })
	r.Cleanup(stop)
	return stop
}

// fillDisk fills the disk of slave-0.
func (r *alarmed) fillDisk() {
	r.Helper()
	f, err := os.Create(filepath.Join(filepath.Dir(r.dirs["slave-0"]), "ballast"))
	r.must(err)
	defer f.Close()
	for chunk := make([]byte, 1<<20); err == nil; {
		_, err = f.Write(chunk)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		r.Fatal(err)
	}
	r.undo = func() { r.must(os.Remove(f.Name())) }
}

// tamper changes bids in the store of slave-0, with correct checksums, and fills its disk before the balancer
// compares the store with the database.
func tamper(r *alarmed) {
	r.parts["balancer"].Kill()
	r.parts["slave-0"].Stop()
	db, err := rocks.Open(r.dirs["slave-0"], rocks.Options{})
	r.must(err)
	s := db.Snapshot()
	it := s.Full(kv.Postings)
	var b kv.Batch
	for ok := it.Seek(nil); ok; ok = it.Next() {
		v := bytes.Clone(it.Value()[:len(it.Value())-9]) // without what block.Seal adds
		root, p := fb.GetRootAsBlock(v, 0), fb.Posting{}
		if root.Postings(&p, root.PostingsLength()-1) && p.MutateBid(p.Bid()+1) {
			b.Put(kv.Postings, it.Key(), block.Seal(v))
		}
	}
	it.Close()
	s.Close()
	if b.Len() == 0 {
		r.Fatal("nothing to tamper with")
	}
	r.must(db.Write(&b))
	r.must(db.Close())
	r.start("slave-0")
	r.whole() // the slave serves its store when no balancer answers
	r.fillDisk()
	r.start("balancer")
}
