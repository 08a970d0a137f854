package copying

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"adshard/fault"
	"adshard/schema/pb"
)

// TestFill: the copy contains exactly the data of its position, although the source applies changes
// and is maintained meanwhile. Nothing of the copy remains at the source.
func TestFill(t *testing.T) {
	t.Parallel()
	r := newSlave(t, 3)
	source := r.source()
	client := dial(t, serve(t, source))
	ctx, cancel := context.WithCancel(t.Context())
	var changing sync.WaitGroup
	changing.Go(func() {
		for ctx.Err() == nil {
			r.advance(r.store.Position().Clock + 1)
			_ = r.store.Maintain(ctx)
		}
	})
	dir := filepath.Join(t.TempDir(), "copy")
	got := fill(t, config(dir), client)
	cancel()
	changing.Wait()
	if got.Source != "slave-0" || got.Contents.Position.Clock < 3 || got.Fetched != got.Bytes || got.Bytes < 3*PieceBytes {
		t.Errorf("%+v", got)
	}
	check(t, dir, got.Contents.Position.Clock)
	if n, sent := source.State(); n != 0 || sent != got.Bytes {
		t.Errorf("%d checkpoints are left, %d bytes were sent", n, sent)
	}
	if left, err := os.ReadDir(filepath.Join(r.dir, checkpointsDir)); err != nil || len(left) != 0 {
		t.Errorf("left at the source: %v, %v", left, err)
	}
}

// TestTheLogIsHeld: the source keeps its log from before the checkpoint until some time after its
// release.
func TestTheLogIsHeld(t *testing.T) {
	t.Parallel()
	r := newSlave(t, 2)
	source := r.source()
	early := false
	client := &tampered{CopiesClient: dial(t, serve(t, source)), open: func(m *pb.OpenCopyResponse, err error) (*pb.OpenCopyResponse, error) {
		early = r.holds.Load() == 1
		return m, err
	}}
	fill(t, config(t.TempDir()), client)
	if !early || r.holds.Load() != 1 {
		t.Fatalf("held when it was opened: %v; holds after the release: %d", early, r.holds.Load())
	}
	source.sweep(time.Now().Add(r.cfg.Linger - 10*time.Second))
	if r.holds.Load() != 1 {
		t.Fatal("released too early")
	}
	source.sweep(time.Now().Add(r.cfg.Linger + time.Second))
	if r.holds.Load() != 0 {
		t.Fatal("held for good")
	}
}

// TestInterruptedAnywhere: a copy is interrupted before each call in turn. The next Fill fetches
// what is missing, and fetches only those pieces twice that were in progress.
func TestInterruptedAnywhere(t *testing.T) {
	t.Parallel()
	r := newSlave(t, 3)
	address := serve(t, r.source())
	broken := errors.New("broken off")
	for n := 0; ; n++ {
		dir := t.TempDir()
		client := &tampered{CopiesClient: dial(t, address), before: func(call int) error {
			if call >= n {
				return broken
			}
			return nil
		}}
		first, err := Fill(t.Context(), config(dir), client)
		if err == nil {
			if n < 8 {
				t.Fatalf("only %d calls", n)
			}
			check(t, dir, 3)
			return // only the release remained
		}
		if first != nil || !errors.Is(err, broken) {
			t.Fatalf("after %d calls: %v, %v", n, first, err)
		}
		got := fill(t, config(dir), dial(t, address))
		if kept := got.Bytes - got.Fetched; n > inFlight+4 && kept == 0 {
			t.Errorf("after %d calls nothing was used again", n)
		}
		check(t, dir, 3)
	}
}

// TestAnOlderCopyIsUsed: data that an older copy already has are not fetched. The older copy serves
// until the new one takes its place in the running store.
func TestAnOlderCopyIsUsed(t *testing.T) {
	t.Parallel()
	r := newSlave(t, 3)
	if err := r.store.Maintain(t.Context()); err != nil {
		t.Fatal(err)
	}
	client := dial(t, serve(t, r.source()))
	dir := t.TempDir()
	fill(t, config(dir), client)
	old := openStore(t, dir)
	defer old.Close()
	at := r.store.Position()
	to := &pb.Position{Epoch: 1, Clock: 4}
	if err := r.store.Apply(t.Context(), &pb.NodeData{From: at, To: to}); err != nil {
		t.Fatal(err)
	}
	got := fill(t, config(dir), client)
	if got.Fetched > got.Bytes/4 {
		t.Errorf("%d of %d bytes were fetched, though almost nothing has changed", got.Fetched, got.Bytes)
	}
	if old.Position().GetClock() != 3 || old.Stats().Groups != groups {
		t.Errorf("the old store is at %v", old.Position())
	}
	if err := old.Reload(); err != nil {
		t.Fatal(err)
	}
	if old.Position().GetClock() != 4 || old.Stats().Groups != groups {
		t.Errorf("the new store is at %v", old.Position())
	}
}

// TestAnotherFileOfTheSameName: a file is not taken for the source's file just because it has the
// same name. Two stores number their files in the same way.
func TestAnotherFileOfTheSameName(t *testing.T) {
	t.Parallel()
	one, other := newSlave(t, 3), newSlave(t, 4)
	dir := t.TempDir()
	fill(t, config(dir), dial(t, serve(t, one.source())))
	s := openStore(t, dir)
	got := fill(t, config(dir), dial(t, serve(t, other.source())))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got.Fetched < got.Bytes/2 {
		t.Errorf("%d of %d bytes were fetched", got.Fetched, got.Bytes)
	}
	check(t, dir, 4)
}

// TestTwoClients: two simultaneous copies are correct. A third one is refused, and so is a second
// one in the same directory.
func TestTwoClients(t *testing.T) {
	t.Parallel()
	r := newSlave(t, 3)
	address := serve(t, r.source())
	var reached, opened sync.WaitGroup
	reached.Add(2)
	opened.Add(1)
	dirs := []string{t.TempDir(), t.TempDir()}
	var fills sync.WaitGroup
	for _, dir := range dirs {
		client := &tampered{CopiesClient: dial(t, address), open: func(m *pb.OpenCopyResponse, err error) (*pb.OpenCopyResponse, error) {
			reached.Done()
			opened.Wait()
			return m, err
		}}
		fills.Go(func() {
			if _, err := Fill(t.Context(), config(dir), client); err != nil {
				t.Error(err)
			}
		})
	}
	reached.Wait()
	third := config(t.TempDir())
	third.Patience = 100 * time.Millisecond
	if _, err := Fill(t.Context(), third, dial(t, address)); !fault.Is(err, fault.Overloaded) {
		t.Errorf("a third copy: %v", err)
	}
	if _, err := Fill(t.Context(), config(dirs[0]), dial(t, address)); !fault.Is(err, fault.Locked) {
		t.Errorf("a second copy in one directory: %v", err)
	}
	opened.Done()
	fills.Wait()
	for _, dir := range dirs {
		check(t, dir, 3)
	}
}

// TestTheRateIsKept: the limits on the rate of both sides are kept.
func TestTheRateIsKept(t *testing.T) {
	t.Parallel()
	r := newSlave(t, 3)
	r.cfg.Rate = 4 * PieceBytes
	limited := config(t.TempDir())
	got := fill(t, limited, dial(t, serve(t, r.source())))
	if least := time.Duration(got.Bytes-PieceBytes) * time.Second / (4 * PieceBytes); got.Took < least {
		t.Errorf("%d bytes took %v, at the source's rate at least %v", got.Bytes, got.Took, least)
	}
	r.cfg.Rate = 0
	limited = config(t.TempDir())
	limited.Rate = 4 * PieceBytes
	got = fill(t, limited, dial(t, serve(t, r.source())))
	if least := time.Duration(got.Bytes-PieceBytes) * time.Second / (4 * PieceBytes); got.Took < least {
		t.Errorf("%d bytes took %v, at its own rate at least %v", got.Bytes, got.Took, least)
	}
}
