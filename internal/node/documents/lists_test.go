package documents

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"adshard/backend"
	"adshard/blocklist"
	"adshard/fault"
	"adshard/targeting"
)

// saveList saves a list with a single domain.
func (b *database) saveList(name, domain string) uint64 {
	l := blocklist.List{Domains: []string{domain}}
	b.save(backend.BlocklistDocument+name, new(l.Text()))
	d := b.heads[backend.BlocklistDocument+name]
	return versionOf(&d)
}

func has(blocks *targeting.Blocks, domain string) bool {
	return blocks.Domains.Has(domain)
}

// TestLists: a request waits for a list version that has not arrived yet. A version that was replaced remains available for a while.
func TestLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, l := newDatabase(), new(Lists)
		f := New("s", anyDatabase, b, Keepers{new(Places), l}, slog.New(slog.DiscardHandler))
		poll := func() {
			t.Helper()
			if err := f.poll(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := l.Version("a"); !fault.Is(err, fault.Unavailable) {
			t.Error(err)
		}
		poll()
		if _, err := l.Version("a"); !fault.Is(err, fault.Invalid) {
			t.Error(err)
		}
		first := b.saveList("a", "one.example")
		waited := make(chan *targeting.Blocks)
		go func() {
			blocks, err := l.Blocks(t.Context(), "a", first)
			if err != nil {
				t.Error(err)
			}
			waited <- blocks
		}()
		synctest.Wait()
		poll()
		if blocks := <-waited; !has(blocks, "one.example") || blocks.Name != "a" {
			t.Errorf("%+v", blocks)
		}
		second := b.saveList("a", "two.example")
		poll()
		for version, domain := range map[uint64]string{first: "one.example", second: "two.example"} {
			if blocks, err := l.Blocks(t.Context(), "a", version); err != nil || !has(blocks, domain) {
				t.Errorf("version %d: %+v, %v", version, blocks, err)
			}
		}
		if version, err := l.Version("a"); err != nil || version != second {
			t.Errorf("%d, %v", version, err)
		}
		time.Sleep(keepReplaced + time.Second)
		gone, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := l.Blocks(gone, "a", first); !fault.Is(err, fault.Behind) {
			t.Error(err)
		}
		b.save(backend.BlocklistDocument+"a", nil)
		poll()
		if blocks, err := l.Blocks(t.Context(), "a", second); err != nil || !has(blocks, "two.example") {
			t.Error(err)
		}
		if _, err := l.Version("a"); !fault.Is(err, fault.Invalid) {
			t.Error(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := l.Blocks(ctx, "a", second+1); !fault.Is(err, fault.Behind) || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			t.Error(err)
		}
		time.Sleep(keepReplaced)
		l.mu.Lock()
		defer l.mu.Unlock()
		if len(l.replaced) > 0 {
			t.Errorf("%d lists are kept", len(l.replaced))
		}
	})
}

// TestReplacedListsAreBounded: however often large lists are replaced, the replaced ones take a bounded number of bytes. The newest of them
// stays. The error for a list that was dropped asks for another attempt.
func TestReplacedListsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := new(Lists)
		put := func(version uint64, bytes int) {
			t.Helper()
			text := (&blocklist.List{Domains: []string{strings.Repeat("a", bytes)}}).Text()
			d := backend.Document{Name: backend.BlocklistDocument + "a", Version: version}
			if err := l.Put(d, backend.PackDocument(text)); err != nil {
				t.Fatal(err)
			}
		}
		at := func(version uint64) *targeting.Blocks { return l.Find("a", version<<contentBits) }
		const third = maxReplaced/3 - 1000
		var first weak.Pointer[targeting.Blocks]
		for version := range uint64(6) {
			put(version+1, third)
			if version == 0 {
				first = weak.Make(at(1))
			}
			if l.oldBytes > maxReplaced {
				t.Fatalf("%d bytes are kept", l.oldBytes)
			}
		}
		if at(6) == nil || at(5) == nil || at(3) == nil || at(2) != nil {
			t.Error("three that were replaced are kept, no older ones")
		}
		if runtime.GC(); first.Value() != nil {
			t.Error("what was dropped is still in memory")
		}
		if _, err := l.Blocks(t.Context(), "a", 2<<contentBits); !fault.Is(err, fault.Behind) {
			t.Errorf("one that went: %v", err)
		}
		put(7, maxReplaced+1)
		put(8, 1)
		if at(7) == nil || at(6) != nil {
			t.Error("the newest of those replaced is kept, whatever it takes, and only that")
		}
		time.Sleep(keepReplaced)
		synctest.Wait()
		if len(l.replaced)+len(l.old)+l.oldBytes != 0 || at(8) == nil {
			t.Errorf("%d lists and %d bytes are kept", len(l.replaced), l.oldBytes)
		}
	})
}

// TestListsOfARestoredDatabase: a restored database uses a version a second time for other entries, and versions lower than those already
// here. A request gets the entries that its master saw.
func TestListsOfARestoredDatabase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, l := newDatabase(), new(Lists)
		f := New("s", anyDatabase, b, l, slog.New(slog.DiscardHandler))
		b.save("other", new("x"))
		b.saveList("a", "one.example")
		before := b.saveList("a", "two.example")
		if err := f.poll(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, at := range []uint64{2, 1} { // the version before is used again: the version of two.example, and a lower one
			b.run, b.at = fmt.Sprint("restored ", at), at
			after := b.saveList("a", fmt.Sprint("restored", at, ".example"))
			waited := make(chan *targeting.Blocks)
			go func() {
				blocks, err := l.Blocks(t.Context(), "a", after)
				if lower := at == 1; fault.Is(err, fault.Behind) != lower || err != nil && !lower {
					t.Errorf("restored to %d: %v", at, err) // nothing says yet that a lower version is to come
				}
				waited <- blocks
			}()
			synctest.Wait()
			if err := f.poll(t.Context()); err != nil {
				t.Fatal(err)
			}
			<-waited
			if blocks := l.Find("a", after); blocks == nil || !has(blocks, fmt.Sprint("restored", at, ".example")) {
				t.Errorf("restored to %d: %+v", at, blocks)
			}
			if now, err := l.Version("a"); err != nil || now != after {
				t.Errorf("%d, %v, want %d", now, err, after)
			}
			if blocks := l.Find("a", before); blocks == nil || !has(blocks, "two.example") {
				t.Errorf("a request of before: %+v", blocks)
			}
		}
	})
}

// TestDamagedLists: a list that cannot be read is not reported as missing, which would be a 400. Other lists are available.
func TestDamagedLists(t *testing.T) {
	b, l := newDatabase(), new(Lists)
	f := New("m", anyDatabase, b, l, slog.New(slog.DiscardHandler))
	poll := func() {
		t.Helper()
		if err := f.poll(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	b.save(backend.BlocklistDocument+"a", new("nonsense"))
	good := b.saveList("b", "b.example")
	poll()
	if _, err := l.Version("a"); !fault.Is(err, fault.Unavailable) {
		t.Errorf("damaged: %v", err)
	}
	if version, err := l.Version("b"); err != nil || version != good {
		t.Errorf("another one: %d, %v", version, err)
	}
	mended := b.saveList("a", "a.example")
	poll()
	if version, err := l.Version("a"); err != nil || version != mended {
		t.Errorf("mended: %d, %v", version, err)
	}
	b.save(backend.BlocklistDocument+"a", new("nonsense again"))
	poll()
	if version, err := l.Version("a"); err != nil || version != mended {
		t.Errorf("damaged over an older one: %d, %v", version, err)
	}
	b.save(backend.BlocklistDocument+"c", new("nonsense"))
	poll()
	b.save(backend.BlocklistDocument+"c", nil)
	poll()
	if _, err := l.Version("c"); !fault.Is(err, fault.Invalid) {
		t.Errorf("removed: %v", err)
	}
}
