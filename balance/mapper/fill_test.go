package mapper_test

import (
	"fmt"
	"runtime"
	"testing"

	"adshard/balance"
	"adshard/balance/delivery"
)

// BenchmarkFill measures the mapper's own share of a first fill: a million items
// go to ten slaves, with builders and slaves that take no time. It reports the
// number of items per second, and the bytes allocated for each.
func BenchmarkFill(b *testing.B) {
	const shards, each, itemBytes = 10, 100_000, 1000
	items := &balance.Index{}
	for i := range uint64(shards * each) {
		k, err := balance.ByHash.Key(1, i+1)
		if err != nil {
			b.Fatal(err)
		}
		items.Put(k, 20)
	}
	model := shares(b, shards)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for b.Loop() {
		d := delivery.New[int](delivery.Config{Epoch: 1}, items, 10)
		if err := d.Quantum(balance.Quantum{Epoch: 1, Number: 1, Clock: 10, View: model.View(), Model: model}); err != nil {
			b.Fatal(err)
		}
		at := map[string]balance.Position{}
		for _, sh := range model.Shards() {
			at[sh.Name] = balance.Position{}
			if _, err := d.Register(balance.Joining{Name: sh.Name}, 10); err != nil {
				b.Fatal(err)
			}
		}
		given := 0
		for given < shards*each {
			for _, w := range d.Work().Builds {
				n := min(len(w.Entries), w.MaxBytes/itemBytes)
				given += n
				d.Built(delivery.Built[int]{Slave: w.Slave, Seq: w.Seq, Entries: n, Bytes: n * itemBytes})
			}
			for name := range at {
				for {
					bucket, err := d.Pull(name, 1, at[name])
					if err != nil {
						b.Fatal(err)
					}
					if bucket == nil {
						break
					}
					at[name] = bucket.To
				}
			}
		}
	}
	runtime.ReadMemStats(&after)
	total := float64(b.N) * shards * each
	b.ReportMetric(total/b.Elapsed().Seconds(), "items/s")
	b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/total, "B/item")
}

// shares returns a plan that gives each slave an equal part of the ring.
func shares(b *testing.B, shards int) *balance.Model {
	b.Helper()
	var list []balance.Shard
	for i := range shards {
		list = append(list, balance.Shard{Name: fmt.Sprint("s", i)})
	}
	base, err := balance.NewModel(list)
	if err != nil {
		b.Fatal(err)
	}
	e := base.Edit()
	slice := uint64(1)
	for i := 1; i < shards; i++ {
		next, err := e.Split(slice, balance.MaxKey/balance.Key(shards)*balance.Key(i))
		if err != nil {
			b.Fatal(err)
		}
		if err := e.Map(next, balance.ShardID(i+1)); err != nil {
			b.Fatal(err)
		}
		slice = next
	}
	model, err := e.Model()
	if err != nil {
		b.Fatal(err)
	}
	return model
}

// BenchmarkBeat measures an empty quantum while nothing changes, with ten slaves
// of a hundred slices each.
func BenchmarkBeat(b *testing.B) {
	model := shares(b, 10)
	e := model.Edit()
	for _, s := range model.Slices() {
		for i := balance.Key(1); i < 100; i++ {
			if _, err := e.Split(s.ID, s.Hi-i); err != nil {
				b.Fatal(err)
			}
		}
	}
	model, err := e.Model()
	if err != nil {
		b.Fatal(err)
	}
	d := delivery.New[int](delivery.Config{Epoch: 1}, &balance.Index{}, 10)
	if err := d.Quantum(balance.Quantum{Epoch: 1, Number: 1, Clock: 10, View: model.View(), Model: model}); err != nil {
		b.Fatal(err)
	}
	for _, sh := range model.Shards() {
		table := model.Table(sh.ID)
		at := balance.Position{Epoch: 1, Clock: 10, Quantum: 1}
		if _, err := d.Register(balance.Joining{Name: sh.Name, Position: at, Table: table}, 10); err != nil {
			b.Fatal(err)
		}
	}
	number := uint64(1)
	for b.Loop() {
		number++
		if err := d.Quantum(balance.Quantum{Epoch: 1, Number: number, Clock: 10, View: model.View()}); err != nil {
			b.Fatal(err)
		}
		d.Work()
	}
	if d.Made() > 0 {
		b.Fatalf("%d buckets of nothing", d.Made())
	}
}
