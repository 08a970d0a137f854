package sim_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"adshard/balance/sim"
	"adshard/balance/strategy"
)

// TestSeeds plays scenarios generated from seeds: 200, or as many as SIM_SEEDS says,
// beginning with SIM_FROM; or the seeds that SIM_ONLY names. A failing scenario is
// shortened and printed; if it is kept in testdata/replay, TestReplay plays it again.
// The logged digest stays the same as long as the behaviour of mappers does not change.
//
//	SIM_SEEDS=10000 go test ./balance/sim -run '^TestSeeds$' -timeout 3h
func TestSeeds(t *testing.T) {
	// Plays make much garbage and keep little, so garbage is collected rarely.
	defer debug.SetGCPercent(debug.SetGCPercent(800))
	seeds := chosen(t)
	var next, queries, complete, owed, switched, events atomic.Int64
	var digest atomic.Uint64 // of all plays, in any order
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for {
				i := next.Add(1) - 1
				if i >= int64(len(seeds)) || t.Failed() {
					return
				}
				s := sim.Generate(seeds[i])
				o, err := sim.Play(s, nil)
				queries.Add(int64(o.Queries))
				complete.Add(int64(o.Complete))
				owed.Add(int64(o.Owed))
				switched.Add(int64(o.Switched))
				events.Add(int64(o.Events))
				digest.Add(o.Digest)
				if err != nil {
					t.Errorf("seed %d: %v\n%s", seeds[i], err, shrunk(s))
				}
			}
		})
	}
	workers.Wait()
	t.Logf("%d seeds: %d events, %d queries, %d complete, %d had to be, %d moves, digest %016x",
		len(seeds), events.Load(), queries.Load(), complete.Load(), owed.Load(), switched.Load(), digest.Load())
}

// TestSeedsHaveAllStrategies: some of the scenarios that TestSeeds plays switch to each
// strategy.
func TestSeedsHaveAllStrategies(t *testing.T) {
	switched := make(map[string]int)
	for _, seed := range chosen(t) {
		for _, e := range sim.Generate(seed).Events {
			if e.Do == "strategy" {
				switched[e.Who]++
			}
		}
	}
	t.Log(switched)
	for _, name := range strategy.Names() {
		if switched[name] == 0 && os.Getenv("SIM_SEEDS")+os.Getenv("SIM_ONLY") == "" && !testing.Short() {
			t.Errorf("no scenario switches to %s", name)
		}
	}
}

// chosen returns the seeds to play.
func chosen(t *testing.T) (list []uint64) {
	t.Helper()
	for _, word := range strings.Fields(os.Getenv("SIM_ONLY")) {
		seed, err := strconv.ParseUint(word, 10, 64)
		if err != nil {
			t.Fatalf("SIM_ONLY: %v", err)
		}
		list = append(list, seed)
	}
	if list != nil {
		return list
	}
	n, from := number("SIM_SEEDS", 200), number("SIM_FROM", 1)
	if testing.Short() {
		n = min(n, 40)
	}
	for i := range n {
		list = append(list, uint64(from+i))
	}
	return list
}

func shrunk(s sim.Scenario) string {
	if os.Getenv("SIM_SHRINK") == "0" {
		return ""
	}
	s = sim.Shrink(s, func(s sim.Scenario) bool { _, err := sim.Play(s, nil); return err != nil }, 200)
	_, err := sim.Play(s, nil)
	return fmt.Sprintf("the shortest that still fails (put it into balance/sim/testdata/replay):\n# %v\n%s", err, s)
}

// TestSamePlay: a scenario plays the same each time. In the last one, a slave restarts
// while several slices are moving to it.
func TestSamePlay(t *testing.T) {
	for _, seed := range []uint64{0, 1, 2, 3939} {
		first, firstErr := sim.Play(sim.Generate(seed), nil)
		for range 10 {
			o, err := sim.Play(sim.Generate(seed), nil)
			if o != first || (err == nil) != (firstErr == nil) {
				t.Fatalf("seed %d plays in two ways: %+v %v and %+v %v", seed, first, firstErr, o, err)
			}
		}
	}
}

// TestReplay plays the scenarios that have failed before. SIM_LOG=NAME prints what
// happens in one of them.
func TestReplay(t *testing.T) {
	files, err := filepath.Glob("testdata/replay/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s, err := sim.ParseScenario(string(text))
			if err != nil {
				t.Fatal(err)
			}
			var log func(string, ...any)
			if os.Getenv("SIM_LOG") == filepath.Base(file) {
				log = t.Logf
			}
			if _, err := sim.Play(s, log); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func number(env string, otherwise int) int {
	n, err := strconv.Atoi(os.Getenv(env))
	if err != nil {
		return otherwise
	}
	return n
}
