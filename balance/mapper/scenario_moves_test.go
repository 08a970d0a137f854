package mapper_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cockroachdb/datadriven"

	"adshard/balance"
)

// moves returns the verbs about moving slices.
func (s *scenario) moves() map[string]func(*datadriven.TestData) (string, error) {
	return map[string]func(*datadriven.TestData) (string, error){
		"run": s.runOn, "move": s.move, "propose": s.propose, "drain": s.drain, "restore": s.restore, "remove-shard": s.removeShard, "pause": s.pause,
		"report": s.report, "trouble": s.trouble, "certify": s.certify, "damage": s.damage,
		"poll": s.poll, "cut": s.cut, "query": s.query, "copy": s.copy,
		"replace": s.replace, "hold": s.hold, "replicas": s.replicas, "shards": s.shards, "follow": s.follow, "queue": s.queue,
	}
}

// run TIME [until=WORD]: everything goes on undisturbed for a while, or until
// the mapper's output contains a word.
func (s *scenario) runOn(d *datadriven.TestData) (string, error) {
	by, err := time.ParseDuration(d.CmdArgs[0].Key)
	word := "\n"
	if a, ok := d.Arg("until"); ok {
		word = a.Vals[0]
	}
	said := func(line string) bool { return strings.Contains(line, word) }
	for end := s.w.now + by; err == nil && s.w.now < end && !slices.ContainsFunc(s.w.events, said); {
		_, err = s.w.round()
	}
	return "", err
}

// move SLICE SHARD: an operator wants to move a slice.
func (s *scenario) move(d *datadriven.TestData) (string, error) {
	id, err := strconv.ParseUint(d.CmdArgs[0].Key, 10, 64)
	if err == nil {
		err = s.w.mapper.Move(s.w.now, id, d.CmdArgs[1].Key)
	}
	return s.after(err)
}

// after carries out what a command has requested.
func (s *scenario) after(err error) (string, error) {
	if err != nil {
		return "", err
	}
	return "", s.w.carry()
}

// propose, then a line for each operation: "split 1 2.0", "merge 1 2", "start
// 1 b": these are what the strategy proposes in its next iteration.
func (s *scenario) propose(d *datadriven.TestData) (string, error) {
	var ops []balance.Op
	e := s.w.mapper.Model().Edit()
	for _, line := range strings.Split(strings.TrimSpace(d.Input), "\n") {
		var verb, what string
		var slice uint64
		if _, err := fmt.Sscan(line, &verb, &slice, &what); err != nil {
			return "", fmt.Errorf("%q: %w", line, err)
		}
		o := balance.Op{Slice: slice}
		switch verb {
		case "split":
			o.Kind, o.At = balance.OpSplit, key(what)
			o.New, _ = e.Split(slice, o.At)
		case "merge":
			right, _ := strconv.ParseUint(what, 10, 64)
			o.Kind, o.New = balance.OpMerge, right
			_ = e.Merge(slice, right)
		case "start":
			sh, _ := s.w.mapper.Model().Named(what)
			o.Kind, o.Shard = balance.OpStart, sh.ID
			_ = e.Start(slice, sh.ID)
		}
		ops = append(ops, o)
	}
	s.w.proposals = append(s.w.proposals, ops)
	return "", nil
}

// drain SHARD: the shard's slices are to go elsewhere.
func (s *scenario) drain(d *datadriven.TestData) (string, error) {
	return s.after(s.w.mapper.Drain(s.w.now, d.CmdArgs[0].Key))
}

// restore SHARD: the shard may hold slices again.
func (s *scenario) restore(d *datadriven.TestData) (string, error) {
	return s.after(s.w.mapper.Restore(s.w.now, d.CmdArgs[0].Key))
}

// remove-shard SHARD: the shard is removed for good.
func (s *scenario) removeShard(d *datadriven.TestData) (string, error) {
	return s.after(s.w.mapper.Remove(s.w.now, d.CmdArgs[0].Key))
}

// replicas N: N slaves are to hold each slice.
func (s *scenario) replicas(d *datadriven.TestData) (string, error) {
	n, err := strconv.Atoi(d.CmdArgs[0].Key)
	if err != nil {
		return "", err
	}
	return s.after(s.w.mapper.SetReplicas(s.w.now, n))
}

// shards: the slaves that are asked for each shard, and with + those that are
// being filled.
func (s *scenario) shards(*datadriven.TestData) (string, error) {
	m := s.w.mapper.Model()
	out := fmt.Sprintf("view %d, revision %d\n", m.View(), m.Revision())
	spares := ""
	for _, sh := range m.Shards() {
		out += sh.Name + ":"
		for _, v := range m.Replicas(sh.ID) {
			if out += " "; !v.In {
				out += "+"
			}
			out += v.Name
		}
		out += "\n"
	}
	for _, v := range m.Slaves() {
		if v.Shard == 0 {
			spares += " " + v.Name
			if v.Left != 0 {
				spares += " (keeps what it held)"
			}
		}
	}
	if spares != "" {
		out += "spares:" + spares + "\n"
	}
	return out, nil
}

// pause [off]: the strategy is no longer asked.
func (s *scenario) pause(d *datadriven.TestData) (string, error) {
	s.w.mapper.Pause(!d.HasArg("off"))
	return s.after(nil)
}

// report NAME…: slaves report their tables to the balancer.
func (s *scenario) report(d *datadriven.TestData) (string, error) {
	for _, a := range d.CmdArgs {
		if err := s.w.report(s.w.slave(a.Key)); err != nil {
			return "", err
		}
	}
	return "", nil
}

// trouble NAME [TEXT]: from now on, a slave reports that it cannot go on;
// without a text it can.
func (s *scenario) trouble(d *datadriven.TestData) (string, error) {
	s.w.slave(d.CmdArgs[0].Key).trouble = strings.TrimSpace(d.Input)
	return "", nil
}

// certify: the mapper's questions are answered from the real data.
func (s *scenario) certify(*datadriven.TestData) (out string, err error) {
	for range len(s.w.asked) {
		c := s.w.asked[0]
		a := s.w.answer(c)
		out += fmt.Sprintf("slice %d, %s: ", c.Slice, interval(c.Lo, c.Hi))
		switch {
		case a.Failed != nil:
			out += a.Failed.Error() + "\n"
		case a.Source == nil:
			out += fmt.Sprintf("%s at clock %d, database at %d\n", summed(c.Target, a.Target), a.Target.Clock, a.Truth.Clock)
		default:
			out += fmt.Sprintf("%s at clock %d, %s at clock %d, database at %d: %s\n", summed(c.Source, a.Source), a.Source.Clock,
				summed(c.Target, a.Target), a.Target.Clock, a.Truth.Clock, same(a))
		}
		if err := s.w.certify(0); err != nil {
			return out, err
		}
	}
	if out == "" {
		out = "nothing is asked\n"
	}
	return out, nil
}

func summed(name string, c *balance.Certificate) string {
	return fmt.Sprintf("%s has %d items", name, c.Items)
}

func same(a balance.Certified) string {
	if a.Source.Bins == a.Target.Bins && a.Target.Bins == a.Truth.Bins {
		return "equal"
	}
	return "different"
}

// damage NAME ITEM…: what searches read of an item differs from what was
// written.
func (s *scenario) damage(d *datadriven.TestData) (string, error) {
	for _, a := range d.CmdArgs[1:] {
		s.w.slave(d.CmdArgs[0].Key).damaged[key(a.Key)] = true
	}
	return "", nil
}

// poll MASTER [lost]: a master asks for a newer map.
func (s *scenario) poll(d *datadriven.TestData) (string, error) {
	m := s.w.master(d.CmdArgs[0].Key)
	s.w.poll(m, d.HasArg("lost"))
	return fmt.Sprintf("%s has view %d\n", m.name, m.view), s.w.carry()
}

// cut MASTER [off]: from now on, messages of a master are lost.
func (s *scenario) cut(d *datadriven.TestData) (string, error) {
	s.w.master(d.CmdArgs[0].Key).cut = !d.HasArg("off")
	return "", nil
}

// query MASTER [view=N]: all slaves are asked in the master's view.
func (s *scenario) query(d *datadriven.TestData) (out string, err error) {
	view := uint64(number(d, "view", 0))
	if view == 0 {
		view = s.w.master(d.CmdArgs[0].Key).view
	}
	for _, name := range slices.Sorted(maps.Keys(s.w.slaves)) {
		n := s.w.slaves[name]
		out += fmt.Sprintf("%s in view %d:", name, view)
		switch {
		case n.dead:
			out += " does not answer"
		case view > n.table.View:
			out += " was not told of it"
		case view < n.table.Least:
			out += " stale, ask again with a newer map"
		}
		for _, h := range n.serves(view) {
			if !n.dead {
				out += fmt.Sprintf(" [%s]", interval(h.Lo, h.Hi))
			}
		}
		out += "\n"
	}
	return out, s.w.checkViews()
}

// copy NAME: the disk of a slave is copied.
func (s *scenario) copy(d *datadriven.TestData) (string, error) {
	n := s.w.slave(d.CmdArgs[0].Key)
	n.copy = n.clone()
	return "", nil
}

// dist returns the distributor=N that a verb is about, by default the first.
func (s *scenario) dist(d *datadriven.TestData) *testDistributor {
	return s.w.dists[number(d, "distributor", 1)-1]
}

// replace [distributor=N]: a new distributor takes the place of one; its
// slaves must announce themselves to the new one.
func (s *scenario) replace(d *datadriven.TestData) (string, error) {
	return "", s.w.replace(number(d, "distributor", 1) - 1)
}

// follow [distributor=N]: the changes that the mapper has arrive.
func (s *scenario) follow(d *datadriven.TestData) (string, error) { return "", s.dist(d).follow() }

// hold [distributor=N] [off]: the mapper's quanta do not reach the distributor.
func (s *scenario) hold(d *datadriven.TestData) (string, error) {
	dist := s.dist(d)
	if dist.slow = !d.HasArg("off"); dist.slow {
		return "", nil
	}
	return "", dist.receive()
}

// queue NAME: the bytes that are ready for a slave.
func (s *scenario) queue(d *datadriven.TestData) (string, error) {
	n := s.w.slave(d.CmdArgs[0].Key)
	return fmt.Sprintf("%d bytes are ready\n", s.w.of(n).distributor.QueuedBytes(n.name)), nil
}
