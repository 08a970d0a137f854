package balancer

import (
	"fmt"
	"testing"
	"time"

	"adshard/fault"
)

func TestDistributorsShareTheSlaves(t *testing.T) {
	now := time.Now()
	s := make(distributors)
	if _, err := s.assigned("slave-0", "", now); !fault.Is(err, fault.Unavailable) {
		t.Fatalf("without a distributor: %v", err)
	}
	where := func() (out [100]string) {
		for i := range out {
			var err error
			if out[i], err = s.assigned(fmt.Sprint("slave-", i), "", now); err != nil {
				t.Fatal(err)
			}
		}
		return out
	}
	for i := range 3 {
		if err := s.record(fmt.Sprint("d", i), fmt.Sprint("d", i, ":1"), "", 5, now); err != nil {
			t.Fatal(err)
		}
	}
	before := where()
	counts := map[string]int{}
	for _, at := range before {
		counts[at]++
	}
	for at, n := range counts {
		if n < 15 {
			t.Errorf("%s has %d of 100 slaves", at, n)
		}
	}
	// When one falls silent, only its slaves go elsewhere. When it returns, they come back.
	now = now.Add(aliveTime)
	for _, i := range []int{0, 2} {
		if err := s.record(fmt.Sprint("d", i), fmt.Sprint("d", i, ":1"), "", 9, now); err != nil {
			t.Fatal(err)
		}
	}
	after := where()
	for i := range after {
		if after[i] == "d1:1" || before[i] != "d1:1" && before[i] != after[i] {
			t.Errorf("slave %d went from %s to %s", i, before[i], after[i])
		}
	}
	if got := s.leastClock(100, now); got != 9 {
		t.Errorf("least clock %d", got)
	}
	if err := s.record("d0", "elsewhere:1", "", 0, now); !fault.Is(err, fault.Conflict) {
		t.Errorf("a second d0: %v", err)
	}
	if err := s.record("d1", "elsewhere:1", "", 0, now); err != nil {
		t.Errorf("d1 at another place: %v", err)
	}
}

// TestDistributorsOfASlavesWords: a slave is assigned to a distributor with its version of words, also if that is
// the older version. If there is none, it is assigned to any.
func TestDistributorsOfASlavesWords(t *testing.T) {
	now := time.Now()
	s := make(distributors)
	note := func(name, words string) {
		t.Helper()
		if err := s.record(name, name+":1", words, 5, now); err != nil {
			t.Fatal(err)
		}
	}
	want := func(words string, names ...string) {
		t.Helper()
		got := map[string]bool{}
		for i := range 100 {
			address, err := s.assigned(fmt.Sprint("slave-", i), words, now)
			if err != nil {
				t.Fatal(err)
			}
			got[address] = true
		}
		for _, name := range names {
			if !got[name+":1"] {
				t.Errorf("words %q: no slave has %s", words, name)
			}
		}
		if len(got) != len(names) {
			t.Errorf("words %q: %v", words, got)
		}
	}
	note("old-0", "")
	note("old-1", "")
	note("new-0", "2")
	note("new-1", "2")
	want("", "old-0", "old-1")
	want("2", "new-0", "new-1")
	want("3", "old-0", "old-1", "new-0", "new-1")
	now = now.Add(aliveTime)
	note("new-0", "2")
	want("", "new-0")
	note("old-1", "2") // it now has the newer program
	want("2", "new-0", "old-1")
}
