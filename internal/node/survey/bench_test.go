package survey

import (
	"testing"
	"time"

	"adshard/balance"
)

// BenchmarkSurvey looks at a million items in 10,000 slices on 100 shards: for
// so long the admin port holds the mapper up.
func BenchmarkSurvey(b *testing.B) {
	const nodes, slices, items = 100, 10_000, 1_000_000
	list := make([]balance.Shard, nodes)
	for i := range list {
		list[i].Name = "slave-" + number(uint64(i))
	}
	model, err := balance.NewModel(list)
	if err != nil {
		b.Fatal(err)
	}
	e, slice := model.Edit(), uint64(1)
	for i := 1; i < slices; i++ {
		if slice, err = e.Split(slice, balance.Key(i*items/slices*10)); err != nil {
			b.Fatal(err)
		}
		if shard := balance.ShardID(i%nodes + 1); shard != 1 {
			if err := e.Map(slice, shard); err != nil {
				b.Fatal(err)
			}
		}
	}
	if model, err = e.Model(); err != nil {
		b.Fatal(err)
	}
	in := balance.Input{Model: model, Items: &balance.Index{}}
	for i := range items {
		in.Items.(*balance.Index).Put(balance.Key(i*10+1), 1)
	}
	for b.Loop() {
		New(in, time.Now())
	}
}
