package rocks_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"adshard/barrels/barreltest"
	"adshard/barrels/rocks"
)

// crashDir is an environment variable that tells a child to which store it must apply
// buckets.
const crashDir = "ADSHARD_TEST_CRASH_DIR"

// TestChildApplies is the child of TestKill: it applies one bucket after another and
// prints each clock when Apply has returned.
func TestChildApplies(t *testing.T) {
	dir := os.Getenv(crashDir)
	if dir == "" {
		return // this is not the child
	}
	s, err := openStore(dir, rocks.Options{WriteBufferBytes: 256 << 10})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	w := barreltest.NewBuilder(t, barreltest.Small(60, "usb cable", "red shoes")).All()
	clock := s.Position().Clock
	if clock == 0 {
		if err := s.Apply(context.Background(), w); err != nil {
			t.Fatal(err)
		}
		clock = 1
	}
	for {
		clock++
		if err := s.Apply(context.Background(), barreltest.Bulky(w, clock)); err != nil {
			t.Fatal(err)
		}
		if clock%8 == 0 {
			if err := s.Maintain(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		fmt.Println("applied", clock)
	}
}

// TestKill: whenever the process is killed, the store opens again at a position that
// is not before the last confirmed one, with the data of exactly that position.
func TestKill(t *testing.T) {
	if testing.Short() {
		t.Skip("short: one goroutine at a time, which no race detector need watch")
	}
	dir := filepath.Join(t.TempDir(), "store")
	confirmed := uint64(0)
	for round := range 6 {
		confirmed = max(confirmed, runAndKill(t, dir, 3+5*round))
		s, err := openStore(dir, rocks.Options{})
		if err != nil {
			t.Fatalf("after kill %d: %v", round, err)
		}
		at := s.Position().Clock
		if at < confirmed || at > confirmed+1 {
			t.Fatalf("after kill %d the store is at %d; %d was confirmed", round, at, confirmed)
		}
		barreltest.SameClock(t, s, 60, at)
		if st := s.Stats(); st.Groups != 60 || st.Keywords != 120 || st.Postings != 120 {
			t.Fatalf("after kill %d: %+v", round, st)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// runAndKill runs the child until it has confirmed a given number of buckets and kills
// it in the middle of a later one. It returns the last confirmed clock.
func runAndKill(t *testing.T, dir string, buckets int) uint64 {
	t.Helper()
	child := exec.Command(os.Args[0], "-test.run=^TestChildApplies$")
	child.Env = append(os.Environ(), crashDir+"="+dir)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	last := uint64(0)
	for n := 0; lines.Scan(); {
		clock, err := strconv.ParseUint(trimApplied(lines.Text()), 10, 64)
		if err != nil {
			t.Fatalf("the child says %q", lines.Text())
		}
		last = clock
		if n++; n == buckets {
			time.AfterFunc(time.Duration(buckets%7)*time.Millisecond, func() { _ = child.Process.Kill() })
		}
	}
	_ = child.Wait() // killed
	return last
}

func trimApplied(line string) string {
	if len(line) > len("applied ") {
		return line[len("applied "):]
	}
	return line
}
