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

// TestMillionEntries: a list with the largest allowed number of entries is followed and queried in bounded memory.
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

// TestAdvertisersAreKeptOnce: a list of advertisers takes less memory than its text, which is not kept beside their numbers. A changed list
// is read in the same way.
func TestAdvertisersAreKeptOnce(t *testing.T) {
	const advertisers = 300_000
	b, l := newDatabase(), new(Lists)
	f := New("s", anyDatabase, b, l, slog.New(slog.DiscardHandler))
	list := blocklist.List{Domains: []string{"a.example"}}
	for id := range uint64(advertisers) {
		list.Advertisers = append(list.Advertisers, 1_000_000_000+id)
	}
	name := backend.BlocklistDocument + "all"
	text := list.Text()
	size := uint64(len(text))
	heap := func() uint64 {
		var now runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&now)
		return now.HeapAlloc
	}
	save := func() {
		b.save(name, &text)
		if err := f.poll(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	before := heap()
	save()
	if now := heap(); now > before+size {
		t.Errorf("a text of %d bytes takes %d", size, now-before)
	}
	list.Advertisers[7]++
	list.Advertisers[8] = 5_000_000_000
	if err := list.Normalise(); err != nil {
		t.Fatal(err)
	}
	text = list.Text()
	save()
	d := b.heads[name]
	if blocks := l.Find("all", versionOf(&d)); blocks == nil || blocks.Advertisers.Len() != len(list.Advertisers) || !blocks.Advertisers.Has(5_000_000_000) || !blocks.Domains.Has("a.example") {
		t.Errorf("the changed list is %+v", blocks)
	}
}
