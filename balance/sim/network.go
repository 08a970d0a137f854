package sim

import "time"

// process is a program on a machine. When it ends, everything in its memory is lost.
// Each start begins another life, and messages to an earlier life are lost.
type process struct {
	name string
	up   bool
	life uint64
	// busy is the time until which it works on what it has. slow is the factor by which
	// its work takes longer than usual.
	busy time.Duration
	slow float64
	// host is the process to which this one belongs, or nil.
	host *process
}

func (p *process) start() { p.up, p.life, p.busy = true, p.life+1, 0 }

// channel distinguishes the connections between two processes.
type channel uint8

const (
	control channel = iota // registration, reports, maps, quanta
	data                   // buckets
	queries
)

type connection struct {
	from, to *process
	channel  channel
}

// cut is a disturbance of the network. Messages wait until it is over, or are lost;
// then the caller's deadline passes.
type cut struct {
	a, b   *process // if b is nil, a is cut off from all others
	until  time.Duration
	drop   bool
	oneWay bool // only messages from a are stopped
}

func (c cut) between(a, b *process) bool {
	return c.a == a && (c.b == nil || c.b == b) || c.a == b && (c.b == nil || c.b == a)
}

// stops reports whether a message between two processes does not get through.
func (c cut) stops(from, to *process) bool {
	return c.between(from, to) && (!c.oneWay || from == c.a)
}

// network carries messages.
type network struct {
	w     *world
	last  map[connection]time.Duration
	cuts  []cut
	chaos *source
}

// arrival returns when a message that is sent now arrives, or false if it never does.
func (n *network) arrival(c connection) (time.Duration, bool) {
	if c.from == c.to || c.from.host == c.to || c.to.host == c.from {
		return n.w.now, true
	}
	leaves, latency := n.w.now, time.Duration((0.5+n.chaos.float())*float64(n.w.cfg.Latency))
	for i := 0; i < len(n.cuts); i++ {
		if n.cuts[i].until <= n.w.now {
			n.cuts[i] = n.cuts[len(n.cuts)-1]
			n.cuts = n.cuts[:len(n.cuts)-1]
			i--
			continue
		}
		if !n.cuts[i].stops(c.from, c.to) {
			continue
		}
		if n.cuts[i].drop {
			return 0, false
		}
		leaves = max(leaves, n.cuts[i].until)
	}
	at := max(leaves+latency, n.last[c])
	n.last[c] = at
	return at, true
}

// call is a request and its answer.
type call struct {
	from, to *process
	channel  channel
	// timeout is how long the caller waits.
	timeout time.Duration
	// work is how long the called process works on it, unless it is slow.
	work time.Duration
	// serve is called in the called process; the function that it returns is called in
	// the caller.
	serve func() (answer func())
	// wait is called instead of serve if the called process does not answer at once.
	// That process must call reply with the answer, or lost if its connections break.
	wait func(reply func(answer func()), lost func())
	// failed is called in the caller instead of the answer.
	failed func()
}

// do makes a call. It ends with the answer, or with failed at the latest at its
// deadline. After a failure the caller never learns whether the call was served.
func (n *network) do(c call) {
	w, life, expires, ended := n.w, c.from.life, n.w.now+c.timeout, false
	back := func(at time.Duration, what func()) {
		w.at(at, func() {
			if !ended && c.from.up && c.from.life == life {
				ended = true
				what()
			}
		})
	}
	back(expires, c.failed)
	soon := func() { back(w.now+w.cfg.Latency, c.failed) }
	if c.to == nil {
		soon()
		return
	}
	there, ok := n.arrival(connection{c.from, c.to, c.channel})
	if !ok {
		return
	}
	w.at(there, func() {
		if !c.to.up {
			soon()
			return
		}
		serving := c.to.life
		w.work(c.to, c.work, func() {
			if !c.to.up || c.to.life != serving {
				soon()
				return
			}
			reply := func(answer func()) {
				if home, ok := n.arrival(connection{c.to, c.from, c.channel}); ok {
					back(home, answer)
				}
			}
			if c.wait != nil {
				c.wait(reply, soon)
				return
			}
			reply(c.serve())
		})
	})
}
