package documents

import (
	"fmt"
	"log/slog"
	"runtime"
	"testing"

	"adshard/backend"
	"adshard/blocklist"
	"adshard/targeting"
)

// TestMillionEntries: a list of as many entries as it may have is followed and asked in bounded memory.
func TestMillionEntries(t *testing.T) {
	if testing.Short() {
		t.Skip("short: it takes seconds")
	}
	b, l := newDatabase(), new(Lists)
	f := New("s", anyDatabase, b, l, slog.New(slog.DiscardHandler))
	list := blocklist.List{Advertisers: []uint64{7}}
	for i := range blocklist.MaxEntries - 1 {
		list.Domains = append(list.Domains, fmt.Sprintf("a%d.example", i))
	}
	if err := list.Normalise(); err != nil {
		t.Fatal(err)
	}
	b.save(backend.BlocklistDocument+"all", new(list.Text()))
	d := b.heads[backend.BlocklistDocument+"all"]
	if err := f.poll(t.Context()); err != nil {
		t.Fatal(err)
	}
	blocks := l.Find("all", versionOf(&d))
	if blocks == nil {
		t.Fatal("it is not here")
	}
	at := targeting.Context{Blocks: []*targeting.Blocks{blocks}}
	if !at.BlocksURL("https://shop.a999998.example/") || at.BlocksURL("https://a999999.example/") {
		t.Error("it does not block what it names, and nothing else")
	}
	b.data, b.heads, list = nil, nil, blocklist.List{}
	runtime.GC()
	var now runtime.MemStats
	runtime.ReadMemStats(&now)
	if most := uint64(256 << 20); now.HeapAlloc > most {
		t.Errorf("it takes %d MiB", now.HeapAlloc>>20)
	}
	t.Logf("it takes %d MiB", now.HeapAlloc>>20)
	runtime.KeepAlive(l)
}
