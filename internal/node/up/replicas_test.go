package up

import (
	"context"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"adshard/internal/node/httpapi"
	"adshard/internal/node/httpapi/api"
	"adshard/internal/node/httpapi/apitest"
	"adshard/internal/node/offline"
)

// TestReplicasChangeUnderQueries: two slaves for each slice, one, two again: each
// answer is complete and finds every ad.
func TestReplicasChangeUnderQueries(t *testing.T) {
	if testing.Short() {
		t.Skip("short: changes the number of replicas under queries for fifteen seconds")
	}
	cfg := upConfig(t, adsDB(t, 60))
	cfg.Slaves, cfg.Replicas = 4, 2
	cfg.linger = 500 * time.Millisecond // more than a query takes here
	c := startUp(t, cfg)
	a := &adminOf{t, apitest.Read(t, httpapi.Spec), c.admin}
	shards := func() (n int, settled bool) {
		var list api.SlaveList
		a.call("GET", "/v1/slaves", "/v1/slaves", "", http.StatusOK, &list)
		of := map[string]int{}
		settled = len(list.Slaves) == 4
		for _, s := range list.Slaves {
			of[s.Shard]++
			settled = settled && s.Serving && s.Shard != "" && s.WaitsFor == ""
		}
		return len(of), settled
	}
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		if n, settled := shards(); n == 2 && settled {
			break
		}
		if time.Since(began) > patience {
			t.Fatalf("not two shards: %s", a.call("GET", "/v1/slaves", "/v1/slaves", "", http.StatusOK, nil))
		}
	}
	if got := c.search(t, "usb cable"); got.Coverage.Shards != 2 || got.Matched != 60 {
		t.Fatalf("%+v", got)
	}
	ctx, stop := context.WithCancel(t.Context())
	var asked, bad atomic.Int64
	var asking sync.WaitGroup
	asking.Go(func() {
		for ctx.Err() == nil {
			asked.Add(1)
			if got := c.search(t, "usb cable"); !got.Coverage.Complete || got.Matched != 60 {
				bad.Add(1)
				t.Errorf("%+v", got)
				return
			}
			time.Sleep(3 * time.Millisecond)
		}
	})
	for _, step := range []struct {
		body   string
		shards int
	}{{`{"replicas":1}`, 4}, {`{"replicas":2}`, 2}} {
		begun := time.Now()
		a.call("POST", "/v1/balance/replicas", "/v1/balance/replicas", step.body, http.StatusOK, nil)
		for ; ; time.Sleep(100 * time.Millisecond) {
			if n, settled := shards(); n == step.shards && settled && len(a.status().MovesInFlight) == 0 {
				t.Logf("%s after %v", step.body, time.Since(begun).Round(time.Second))
				break
			}
			if time.Since(begun) > patience {
				t.Fatalf("%s: %s", step.body, a.call("GET", "/v1/slaves", "/v1/slaves", "", http.StatusOK, nil))
			}
		}
	}
	stop()
	asking.Wait()
	if asked.Load() == 0 || bad.Load() > 0 {
		t.Errorf("%d of %d answers are incomplete", bad.Load(), asked.Load())
	}
	if s := a.status(); s.Replicas != 2 || s.Revision == 0 {
		t.Errorf("%d replicas, revision %d", s.Replicas, s.Revision)
	}
}

// TestUpOnReplicasBuiltOffline: stores of two replicas each, and of a spare, are
// adopted as they are.
func TestUpOnReplicasBuiltOffline(t *testing.T) {
	cfg := upConfig(t, adsDB(t, 20))
	build := offline.DefaultConfig()
	build.DB, build.Out, build.Slaves, build.Replicas = cfg.DB, filepath.Join(t.TempDir(), "barrels"), 5, 2
	built, err := offline.Build(t.Context(), build, nil)
	if err != nil {
		t.Fatal(err)
	}
	groups := uint64(0)
	for _, s := range built.Stores {
		groups += s.Groups
	}
	if built.Groups != 20 || groups != 40 || built.Stores[4].Groups != 0 {
		t.Fatalf("%+v", built)
	}
	cfg.Barrels, cfg.Slaves, cfg.Replicas = build.Out, 5, 2
	c := startUp(t, cfg)
	if got := c.search(t, "usb cable"); got.Coverage.Shards != 2 || got.Matched != 20 || !got.Coverage.Complete {
		t.Errorf("%+v", got)
	}
	a := &adminOf{t, apitest.Read(t, httpapi.Spec), c.admin}
	var list api.SlaveList
	a.call("GET", "/v1/slaves", "/v1/slaves", "", http.StatusOK, &list)
	of := ""
	for _, s := range list.Slaves {
		of += s.Name + " " + s.Shard + "; "
	}
	if of != "slave-0 shard-0; slave-1 shard-0; slave-2 shard-1; slave-3 shard-1; slave-4 ; " {
		t.Error(of)
	}
	if s := a.status(); s.Moved.Moves != 0 {
		t.Errorf("%+v", s.Moved)
	}
}
