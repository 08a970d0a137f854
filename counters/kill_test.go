package counters_test

import (
	"bufio"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"adshard/backend/pgtest"
	"adshard/counters"
	"adshard/counters/store/postgres"
)

// childEnv has the place of the store for a child process, which updates and compacts until
// it is killed.
const childEnv = "ADSHARD_TEST_COUNT_IN"

// updaters is the number of updates of a child that are under way at once.
const updaters = 3

// child updates a counter in all modes, and prints a line after each update.
func child(place string) error {
	ctx := context.Background()
	s, _, err := opened(ctx, place)
	if err != nil {
		return err
	}
	failed := make(chan error)
	for _, m := range []counters.Mode{counters.Static(3), counters.Dynamic(), counters.Dynamic()} {
		f, err := counters.New(s, counters.Sum[int64](), m, counters.Options{})
		if err != nil {
			return err
		}
		go func() { failed <- f.Run(ctx, 2*time.Millisecond, func(err error) { failed <- err }) }()
		go func() {
			for i := 0; ; i++ {
				err := f.Update(ctx, "c", plus(1))
				if err == nil && i%20 == 0 {
					err = f.Resize(ctx, "c", 1+i/20%4)
				}
				if err != nil {
					failed <- err
				}
				if _, err := os.Stdout.WriteString("made\n"); err != nil {
					failed <- err
				}
			}
		}()
	}
	return <-failed
}

// TestKill kills a process that updates, resizes and compacts, again and again. It tests
// that each update that the process has reported was made, and that besides these no more
// were made than were under way.
func TestKill(t *testing.T) {
	for name, place := range places {
		t.Run(name, func(t *testing.T) {
			at := place(t)
			told, killed := int64(0), int64(0)
			for range 4 {
				told += killedChild(t, at)
				killed++
				s, end, err := opened(t.Context(), at)
				must(t, err)
				least := told
				for range 2 { // a server may finish what the child asked for after the first read
					got, err := sums(t, s, counters.Static(1), counters.Options{}).Value(t.Context(), "c")
					if err != nil || got < least || got > told+killed*updaters {
						t.Errorf("%d updates were acknowledged before %d kills, the value is %d after %d (%v)", told, killed, got, least, err)
					}
					least = got
				}
				end()
			}
			if told < 20 {
				t.Errorf("only %d updates", told)
			}
		})
	}
}

// killedChild runs a child for a while after its first updates, kills it, and returns how
// many updates it has reported.
func killedChild(t *testing.T, place string) (told int64) {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0])
	c.Env = append(os.Environ(), childEnv+"="+place)
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	must(t, err)
	must(t, c.Start())
	lines := bufio.NewScanner(out)
	for ; lines.Scan(); told++ {
		if told == 10 {
			time.AfterFunc(time.Duration(rand.IntN(150))*time.Millisecond, func() { _ = c.Process.Kill() })
		}
	}
	var exit *exec.ExitError
	if err := c.Wait(); !errors.As(err, &exit) || exit.Exited() {
		t.Fatalf("the child was not killed: %v", err)
	}
	return told
}

// TestServerKilled kills the server of the database under updates, and starts it again. It
// tests that an update that returned nil was made, and that one that failed was not. An
// *Unknown update may or may not have been made.
func TestServerKilled(t *testing.T) {
	own, err := pgtest.New("fsync=off")
	must(t, err)
	defer own.Remove()
	must(t, own.Start())
	s, err := postgres.Open(t.Context(), own.URL("postgres"))
	must(t, err)
	defer s.Close()
	var known, unknown, failed atomic.Int64
	stop := make(chan struct{})
	var all sync.WaitGroup
	for _, m := range modes {
		f := sums(t, s, m, counters.Options{})
		for range 2 {
			all.Go(func() {
				for !closed(stop) {
					var told *counters.Unknown
					switch err := f.Update(t.Context(), "c", plus(1)); {
					case err == nil:
						known.Add(1)
						continue
					case errors.As(err, &told):
						unknown.Add(1)
					default:
						failed.Add(1)
					}
					time.Sleep(time.Millisecond)
				}
			})
		}
		all.Go(func() {
			for !closed(stop) {
				_, _ = f.Compact(t.Context(), "c") // fails while the server is away
			}
		})
	}
	for range 2 {
		until(t, func(n int64) bool { return n > 50 }, &known)
		must(t, own.Kill())
		time.Sleep(20 * time.Millisecond)
		must(t, own.Start())
	}
	until(t, func(n int64) bool { return n > 100 }, &known)
	close(stop)
	all.Wait()
	got, err := sums(t, s, counters.Static(1), counters.Options{}).Value(t.Context(), "c")
	if err != nil || got < known.Load() || got > known.Load()+unknown.Load() {
		t.Errorf("%d updates were made, %d perhaps, %d not; the value is %d (%v)", known.Load(), unknown.Load(), failed.Load(), got, err)
	}
	t.Logf("%d made, %d perhaps, %d not; value %d", known.Load(), unknown.Load(), failed.Load(), got)
}

func closed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// until waits until enough has been added to a count.
func until(t *testing.T, enough func(more int64) bool, n *atomic.Int64) {
	t.Helper()
	from := n.Load()
	for begin := time.Now(); !enough(n.Load() - from); time.Sleep(time.Millisecond) {
		if time.Since(begin) > time.Minute {
			t.Fatalf("only %d more", n.Load()-from)
		}
	}
}
