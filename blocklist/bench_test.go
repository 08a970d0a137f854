package blocklist

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"adshard/backend"
)

// large returns a list of a million realistic domains, sorted or not.
func large(ordered bool) *List {
	l := new(List)
	for i := range uint64(MaxEntries) {
		n := i * 0x9e3779b97f4a7c15
		l.Domains = append(l.Domains, fmt.Sprintf("%x.%s", n>>32, []string{"com", "example.net", "co.uk", "cz"}[n>>30&3]))
	}
	if ordered {
		slices.Sort(l.Domains)
	}
	return l
}

// BenchmarkMillion measures the steps from a change of the largest list to the blocks that searches
// use.
func BenchmarkMillion(b *testing.B) {
	l := large(true)
	if err := l.Normalise(); err != nil {
		b.Fatal(err)
	}
	e := Edit{Add: List{Domains: []string{"added.example"}}, Remove: List{Domains: l.Domains[777:778]}}
	next, err := e.Apply(l)
	if err != nil {
		b.Fatal(err)
	}
	text, after := l.Text(), next.Text()
	data := backend.PackDocument(text)
	changed := backend.RepackDocument(after, text, data)
	b.Logf("%d bytes of text, %d packed", len(text), len(data))
	must := func(b *testing.B, err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	step := func(name string, f func(b *testing.B)) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f(b)
			}
		})
	}
	b.Run("normalise shuffled", func(b *testing.B) {
		from := large(false)
		for b.Loop() {
			must(b, (&List{Domains: slices.Clone(from.Domains)}).Normalise())
		}
	})
	step("normalise", func(b *testing.B) { must(b, l.Normalise()) })
	step("edit", func(b *testing.B) { _, err := e.Apply(l); must(b, err) })
	step("text", func(*testing.B) { l.Text() })
	step("pack", func(*testing.B) { backend.PackDocument(text) })
	step("repack", func(*testing.B) { backend.RepackDocument(after, text, data) })
	step("unpack", func(b *testing.B) { _, err := backend.UnpackDocument(data); must(b, err) })
	b.Run("unpack the next", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			var u backend.Unpacker
			_, err := u.Unpack(data)
			must(b, err)
			b.StartTimer()
			_, err = u.Unpack(changed)
			must(b, err)
		}
	})
	step("blocks", func(b *testing.B) { _, _, err := ParseBlocks(text); must(b, err) })
	b.Run("memory", func(b *testing.B) {
		var before, now runtime.MemStats
		for b.Loop() {
			runtime.GC()
			runtime.ReadMemStats(&before)
			unpacked, err := backend.UnpackDocument(data)
			must(b, err)
			blocks, _, err := ParseBlocks(unpacked)
			must(b, err)
			runtime.GC()
			runtime.ReadMemStats(&now)
			b.ReportMetric(float64(now.HeapAlloc-before.HeapAlloc), "B/list")
			runtime.KeepAlive(blocks)
		}
	})
}
