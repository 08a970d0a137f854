package documents

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"adshard/backend"
	"adshard/blocklist"
	"adshard/fault"
	"adshard/targeting"
)

// saveList gives a list a domain.
func (b *database) saveList(name, domain string) uint64 {
	l := blocklist.List{Domains: []string{domain}}
	b.save(backend.BlocklistDocument+name, new(l.Text()))
	return b.at
}

func has(blocks *targeting.Blocks, domain string) bool {
	_, ok := blocks.Domains[domain]
	return ok
}

// TestLists: a list of a version that is to come is waited for; one that was replaced is there for a while.
func TestLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, l := newDatabase(), new(Lists)
		f := New("s", b, Keepers{new(Places), l}, slog.New(slog.DiscardHandler))
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
		if _, err := l.Blocks(t.Context(), "a", first); !fault.Is(err, fault.Behind) {
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
