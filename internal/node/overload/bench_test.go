package overload

import (
	"testing"
	"time"
)

// BenchmarkGate measures the cost for each search.
func BenchmarkGate(b *testing.B) {
	for name, c := range map[string]Config{"master": ForMaster(256), "slave": ForSlave(128)} {
		b.Run(name, func(b *testing.B) {
			g := New(c)
			r := Request{Tenant: "tenant", Left: 500 * time.Millisecond}
			b.ReportAllocs()
			for b.Loop() {
				p, err := g.Enter(r)
				if err != nil {
					b.Fatal(err)
				}
				p.Leave()
			}
		})
	}
}

// BenchmarkRefusal measures the cost of a refusal.
func BenchmarkRefusal(b *testing.B) {
	g := New(Config{Most: 1, Least: 1, Start: 1})
	r := Request{Left: time.Second}
	if _, err := g.Enter(r); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := g.Enter(r); err == nil {
			b.Fatal("admitted")
		}
	}
}
