package mapper_test

import (
	"fmt"
	"slices"

	"adshard/balance"
	"adshard/balance/delivery"
)

// take collects the work that a distributor requests.
func (w *world) take(d *testDistributor) {
	if w.up {
		d.distributor.Tick(w.now)
		more := d.distributor.Work()
		d.work.Builds = append(d.work.Builds, more.Builds...)
		d.work.Fetches = append(d.work.Fetches, more.Fetches...)
	}
}

// build does one of the requested builds; most is the largest number of
// entries taken, 0: all that fit.
func (w *world) build(d *testDistributor, i, most int) error {
	b := d.work.Builds[i]
	d.work.Builds = slices.Delete(d.work.Builds, i, i+1)
	if b.Clock > w.clock {
		return fmt.Errorf("build of %s wants clock %d, there is %d", b.Slave, b.Clock, w.clock)
	}
	out := delivery.Built[content]{Slave: b.Slave, Seq: b.Seq}
	out.Payload = content{items: map[balance.Key]uint64{}, parents: map[balance.Parent]uint64{}}
	for _, e := range b.Entries {
		if out.Entries > 0 && (out.Bytes+w.itemBytes > b.MaxBytes || most > 0 && out.Entries >= most) {
			break
		}
		out.Entries++
		out.Bytes += w.itemBytes
		w.put(&out.Payload, e)
	}
	d.distributor.Built(out)
	return nil
}

func (w *world) put(c *content, e delivery.Entry) {
	if e.Key == 0 {
		c.parents[e.Parent] = w.parents[e.Parent]
		return
	}
	version, there := w.items[e.Key]
	if !there {
		c.deleted = append(c.deleted, e.Key)
		return
	}
	c.items[e.Key] = version
	c.parents[parentOf(e.Key)] = w.parents[parentOf(e.Key)]
}

// fetch does one of the requested fetches; it calls meanwhile between reading
// and answering.
func (w *world) fetch(d *testDistributor, i int, meanwhile func() error) error {
	f := d.work.Fetches[i]
	d.work.Fetches = slices.Delete(d.work.Fetches, i, i+1)
	out := delivery.Fetched{Slave: f.Slave, Seq: f.Seq, Stale: f.After < w.compacted}
	for _, c := range w.log {
		if !out.Stale && c.Clock > f.After && len(out.Changes) < f.Limit {
			out.Changes = append(out.Changes, c)
		}
	}
	if err := meanwhile(); err != nil {
		return err
	}
	d.distributor.Fetched(out)
	return nil
}
