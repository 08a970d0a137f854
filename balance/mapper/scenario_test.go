package mapper_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"adshard/balance"
	"adshard/balance/delivery"
)

// TestScenarios runs the texts in testdata, whose notation is explained in its README.md. Each
// text begins with a new world. Verbs are described at their methods.
func TestScenarios(t *testing.T) {
	datadriven.Walk(t, "testdata/scenarios", func(t *testing.T, path string) {
		s := &scenario{w: newWorld(1)}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			out := s.run(d)
			if out == "" {
				return "ok\n"
			}
			return out
		})
	})
}

// scenario executes the verbs.
type scenario struct{ w *world }

func (s *scenario) run(d *datadriven.TestData) string {
	verbs := s.moves()
	maps.Copy(verbs, map[string]func(*datadriven.TestData) (string, error){
		"cluster": s.cluster, "items": s.items, "remove": s.remove, "parent": s.parent,
		"balancer": s.balancer, "kill-balancer": s.killBalancer, "join": s.join, "save": s.save,
		"feed": s.feed, "tick": s.tick, "prepare": s.prepare, "pull": s.pull, "settle": s.settle,
		"model": s.model, "slave": s.slave, "kill": s.kill, "compact": s.compact, "quantum": s.quantum,
		"apply": s.apply, "state": s.state, "forget": s.forget,
	})
	verb, ok := verbs[d.Cmd]
	if !ok {
		return "unknown verb " + d.Cmd + "\n"
	}
	out, err := verb(d)
	if err != nil {
		out += "refused: " + err.Error() + "\n"
	}
	for _, line := range s.w.events {
		out += line + "\n"
	}
	s.w.events = nil
	return out
}

// cluster slaves=N [bucket=ITEMS] [ahead=N] [changes=N] [distributors=N] [replicas=N] [evacuate=SECONDS]:
// a new world, with the number of slaves before the first plan, entries per bucket, ready buckets per
// slave, changes kept, distributors, slaves per slice, and seconds until a lost shard is replaced.
func (s *scenario) cluster(d *datadriven.TestData) (string, error) {
	s.w = newWorld(number(d, "slaves", 1))
	s.w.config.BucketBytes, s.w.config.NodeBytes = 1<<20, 1<<20
	s.w.config.Entries = number(d, "bucket", 10)
	s.w.config.Ahead = number(d, "ahead", 2)
	s.w.config.Changes = number(d, "changes", 100)
	s.w.plan.Replicas = number(d, "replicas", 1)
	s.w.plan.EvacuateAfter = time.Duration(number(d, "evacuate", 0)) * time.Second
	s.w.dists = make([]*testDistributor, number(d, "distributors", 1))
	return "", nil
}

// items: words owner.item, e.g. "1.1 1.2"; owners 1 to 9 are around the ring in this order.
func (s *scenario) items(d *datadriven.TestData) (string, error) {
	for _, k := range keys(d) {
		s.w.write(k, false)
	}
	return fmt.Sprintf("clock %d\n", s.w.clock), nil
}

// remove: the items, given as for the verb items, are removed.
func (s *scenario) remove(d *datadriven.TestData) (string, error) {
	for _, k := range keys(d) {
		s.w.write(k, true)
	}
	return fmt.Sprintf("clock %d\n", s.w.clock), nil
}

// parent OWNER: the owner's record is written.
func (s *scenario) parent(d *datadriven.TestData) (string, error) {
	s.w.touch(owner(key(d.CmdArgs[0].Key + ".1")))
	return fmt.Sprintf("clock %d\n", s.w.clock), nil
}

// balancer: a balancer starts with its distributors and the next epoch; a running one is
// killed.
func (s *scenario) balancer(*datadriven.TestData) (string, error) {
	err := s.w.start()
	return s.waiting(), err
}

func (s *scenario) waiting() string {
	if w := s.w.mapper.Waiting(); w != "" {
		return "waits: " + w + "\n"
	}
	return ""
}

// kill-balancer: the balancer dies, with its distributors.
func (s *scenario) killBalancer(*datadriven.TestData) (string, error) {
	s.w.up = false
	return "", nil
}

// join NAME… [distributor=N]: slaves register.
func (s *scenario) join(d *datadriven.TestData) (out string, err error) {
	for _, a := range d.CmdArgs {
		if len(a.Vals) > 0 {
			continue
		}
		n := s.w.slave(a.Key)
		if d.HasArg("distributor") {
			n.dist = number(d, "distributor", 1) - 1
		}
		n.dead = false
		if err := s.w.register(n); err != nil {
			return out, err
		}
		out += fmt.Sprintf("%s is at %s, must reach %s\n", n.name, at(n.pos), at(n.catchUp))
	}
	return out + s.waiting(), nil
}

// save: what the mapper wants to be durable becomes durable.
func (s *scenario) save(*datadriven.TestData) (string, error) {
	if s.w.save == nil {
		return "nothing to save\n", nil
	}
	return "saved\n", s.w.persist()
}

// feed [to-mapper] [n=N]: changes arrive at the balancer.
func (s *scenario) feed(d *datadriven.TestData) (string, error) {
	n, err := number(d, "n", 1<<20), error(nil)
	if d.HasArg("to-mapper") {
		err = s.w.feedMapper(n)
	} else {
		err = s.w.feed(n)
	}
	return fmt.Sprintf("mapper has clock %d\n", s.w.mapper.Clock()), err
}

// tick TIME: time passes.
func (s *scenario) tick(d *datadriven.TestData) (string, error) {
	by, err := time.ParseDuration(d.CmdArgs[0].Key)
	if err != nil {
		return "", err
	}
	return "", s.w.tick(by)
}

// prepare [most=N]: everything that the distributor wants is read and built; with most, a build
// takes only the given number of entries.
func (s *scenario) prepare(d *datadriven.TestData) (out string, err error) {
	for _, dist := range s.w.dists {
		s.w.take(dist)
		for len(dist.work.Builds)+len(dist.work.Fetches) > 0 {
			for _, f := range dist.work.Fetches {
				out += fmt.Sprintf("read for %s changes after %d\n", f.Slave, f.After)
			}
			for len(dist.work.Fetches) > 0 {
				if err := s.w.fetch(dist, 0, func() error { return nil }); err != nil {
					return out, err
				}
			}
			for len(dist.work.Builds) > 0 {
				b := dist.work.Builds[0]
				out += fmt.Sprintf("build for %s at clock %d:%s\n", b.Slave, b.Clock, entries(b.Entries))
				if err := s.w.build(dist, 0, number(d, "most", 0)); err != nil {
					return out, err
				}
			}
			s.w.take(dist)
		}
	}
	return out, nil
}

// pull NAME [times=N] [lost]: a slave asks and applies what it gets; with lost, the answer does
// not arrive.
func (s *scenario) pull(d *datadriven.TestData) (out string, err error) {
	n := s.w.slave(d.CmdArgs[0].Key)
	for range number(d, "times", 1) {
		b, err := s.w.of(n).distributor.Pull(n.name, n.epoch, n.pos)
		if err != nil {
			return out, err
		}
		if b == nil {
			return out + "nothing\n", nil
		}
		out += describe(*b)
		if d.HasArg("lost") {
			return out + "lost\n", nil
		}
		if err := s.w.apply(n, *b); err != nil {
			return out, err
		}
	}
	return out, nil
}

// apply NAME from=POSITION: a slave is given a bucket that begins elsewhere.
func (s *scenario) apply(d *datadriven.TestData) (string, error) {
	n := s.w.slave(d.CmdArgs[0].Key)
	from := n.pos
	from.Clock++
	return "", s.w.apply(n, delivery.Bucket[content]{From: from, To: from})
}

// settle: everything runs until nothing more happens; then slaves are compared with the
// database.
func (s *scenario) settle(*datadriven.TestData) (string, error) {
	if err := s.w.settle(); err != nil {
		return "", err
	}
	return "", s.w.complete()
}

// compact: the feed forgets all changes so far.
func (s *scenario) compact(d *datadriven.TestData) (string, error) {
	s.w.compact(s.w.clock)
	return fmt.Sprintf("changes up to %d are gone\n", s.w.compacted), nil
}

// kill NAME [disk] [copy]: a slave dies. With disk, its data are lost too; with copy, its data
// are set back to what they were at the verb copy.
func (s *scenario) kill(d *datadriven.TestData) (string, error) {
	n := s.w.slave(d.CmdArgs[0].Key)
	n.dead, n.epoch = true, 0
	n.life++
	if d.HasArg("disk") {
		n.wipe()
	}
	if d.HasArg("copy") {
		n.restore()
	}
	return "", nil
}

// quantum epoch=N number=N: a quantum arrives at the distributor, from any sender.
func (s *scenario) quantum(d *datadriven.TestData) (string, error) {
	return "", s.w.dists[0].distributor.Quantum(balance.Quantum{Epoch: uint64(number(d, "epoch", 1)), Number: uint64(number(d, "number", 1))})
}

// model [distributor=N]: the distributor's model.
func (s *scenario) model(d *datadriven.TestData) (string, error) {
	m := s.dist(d).distributor.Model()
	if m == nil {
		return "no model\n", nil
	}
	out := fmt.Sprintf("view %d\n", m.View())
	for _, v := range m.Slices() {
		sh, _ := m.Shard(v.Shard)
		out += fmt.Sprintf("slice %d %s on %s from view %d%s\n", v.ID, interval(v.Lo, v.Hi), sh.Name, v.From, onItsWay(m, v))
	}
	return out, nil
}

func onItsWay(m *balance.Model, s balance.Slice) string {
	other, _ := m.Shard(s.Move.Other)
	switch s.Move.Phase {
	case balance.Copying:
		return ", is copied to " + other.Name
	case balance.Switched:
		return fmt.Sprintf(", on %s in the views %d to %d", other.Name, s.Move.OtherFrom, s.From-1)
	}
	return ""
}

// slave NAME: the data of a slave.
func (s *scenario) slave(d *datadriven.TestData) (string, error) {
	n := s.w.slave(d.CmdArgs[0].Key)
	out := fmt.Sprintf("position %s, view %d", at(n.pos), n.table.View)
	if n.table.Least > 0 {
		out += fmt.Sprintf(", views below %d are stale", n.table.Least)
	}
	out += "\n"
	for _, h := range n.table.Slices {
		out += fmt.Sprintf("slice %d %s %s\n", h.ID, interval(h.Lo, h.Hi), Views(h))
	}
	for _, k := range slices.Sorted(maps.Keys(n.items)) {
		out += fmt.Sprintf("%s at %d, parent at %d\n", name(k), n.items[k], n.parents[parentOf(k)])
	}
	return out, nil
}

// state: the durable state of the balancer.
func (s *scenario) state(*datadriven.TestData) (string, error) {
	if s.w.saved == nil {
		return "none\n", nil
	}
	st, err := balance.DecodeState(s.w.saved)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("quantum %d, view %d, %d slices\n", st.Quantum, st.Model.View(), len(st.Model.Slices())), nil
}

// forget: the balancer's durable state is lost.
func (s *scenario) forget(*datadriven.TestData) (string, error) {
	s.w.saved = nil
	return "", nil
}
