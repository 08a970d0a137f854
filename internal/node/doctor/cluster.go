package doctor

import (
	"fmt"
	"time"
)

// plan examines who leads, and whether its decisions reach the other processes.
func (e *examination) plan() {
	s := e.now.Status
	if s == nil {
		e.unled()
		return
	}
	if s.Waiting != "" && e.led() >= fresh {
		e.add(Answers, "AdshardNotFilled", "", "there is no plan yet: "+s.Waiting,
			"start the slaves that are missing: `slave --config FILE`; `adshard slaves list` shows who has joined").unplanned = true
	}
	if b := e.before.Status; b != nil && e.took > 0 && s.PublishedView < s.View && b.PublishedView == s.PublishedView && b.PublishedView < b.View {
		e.add(Changes, "AdshardMapNotPublished", "",
			fmt.Sprintf("masters have had slice map %d for %s; the newest is %d", s.PublishedView, seconds(e.took), s.View),
			"`adshard balance status` shows what each move waits for; `adshard slaves list` what is wrong with that slave, such as a full disk")
	}
	for _, d := range s.Distributors {
		if !d.Alive {
			e.add(Changes, "AdshardTargetDown", d.Name, "distributor "+d.Name+" is away", e.restart("distributor", d.Name, false))
		}
	}
}

// unled adds a finding that no leading balancer answered. The advice depends on whether the balancer runs without leading, for which its
// readiness gives the reason, such as a database that is away; whether it hangs; or whether it does not run.
func (e *examination) unled() {
	const other = "; if another one leads, name its admin address: `--addr`"
	what, do := "no balancer that leads answers: "+e.now.Unled, e.restart("balancer", "", false)+other
	if len(e.now.Ports) > 0 {
		switch p := e.now.Ports[0]; {
		case p.Failed == "" && p.NotReady != "":
			what = fmt.Sprintf("the balancer at %s runs and does not lead: %s", p.Address, p.NotReady)
			do = "mend what it names; no other balancer helps as long as that is so" + other
			if e.age(0) < fresh {
				what = fmt.Sprintf("the balancer at %s was started %s ago and does not lead yet: %s", p.Address, seconds(e.age(0)), p.NotReady)
				do = "wait some seconds and ask again" + other
			}
		case p.Failed == "":
			what = fmt.Sprintf("the balancer at %s does not lead: %s", p.Address, e.now.Unled)
			do = "ask the one that leads: `--addr`"
		case p.Silence.Elsewhere():
			what, do = fmt.Sprintf("the balancer at %s cannot be asked: %s", p.Address, p.Failed), p.Silence.away(p.Address)
		case e.now.Hung:
			what = fmt.Sprintf("the balancer at %s has not answered within %s: its process hangs, or its host is cut off", p.Address, seconds(Wait))
			do = e.restart("balancer", "", true)
		case p.Silence == Strange:
			what = fmt.Sprintf("the balancer at %s cannot be asked: %s", p.Address, p.Failed)
			do = "do not start it again for that: correct the address, `--addr`, with `http://` or `https://`, and `--ca`, `--cert` and `--key`"
		}
	}
	e.add(Changes, "AdshardNoBalancerLeads", "", what, do).away = e.awayHost(0)
}

// lately is how long a difference is still reported as new, as in its alert.
const lately = 30 * time.Minute

// copies examines the differences that the scrub found.
func (e *examination) copies() {
	if e.now.Status == nil {
		return
	}
	scrub := &e.now.Status.Scrub
	for _, c := range scrub.Condemned {
		e.add(Data, "AdshardCondemnedSlices", c.Slave, fmt.Sprintf("%s has yet to discard slice %d: %s", c.Slave, c.Slice, c.Reason),
			fmt.Sprintf("start or restart %s; if it stays, empty its `dir`: it is refilled", c.Slave))
	}
	if n := scrub.Last.Different; n > 0 && time.Duration(scrub.Last.AgeMs)*time.Millisecond < lately {
		e.add(Data, "AdshardCopiesDiffer", "", fmt.Sprintf("the last scrub found %d parts of slices that differed from the database", n),
			"they are discarded and refilled by themselves; the balancer's log names the slave: test its disk and memory")
	}
}

// uneven is the ratio of the load's max/mean to the best possible one above which load is reported as uneven, as in its alert.
const uneven = 1.3

// steering examines how load is spread.
func (e *examination) steering() {
	s := e.now.Status
	if s == nil {
		return
	}
	if s.Paused {
		e.add(Balance, "AdshardBalancingPaused", "", "balancing is paused, and slaves that are lost are not replaced", "`adshard balance resume`")
	}
	if s.Last != nil && s.Last.Refused != "" {
		e.add(Balance, "AdshardProposalsRefused", "", "the balancer refused what the strategy proposed: "+s.Last.Refused,
			"correct the strategy or the limits: `adshard balance plan`, `adshard balance strategy`")
	}
	if s.MaxOverMean > uneven*s.LowerBound && e.loadKnown() {
		e.add(Balance, "AdshardUnevenLoad", "", fmt.Sprintf("the most loaded slave has %.2f times the mean; %.2f is possible", s.MaxOverMean, s.LowerBound),
			"`adshard balance plan` shows what would be done, `adshard balance why SLICE` what prevents a move")
	}
}

// loadKnown reports whether enough queries were counted to judge the load.
func (e *examination) loadKnown() bool {
	for _, p := range e.now.Ports {
		if samples(p.Metrics).sum(where("adshard_balancer_load_known")) > 0 {
			return true
		}
	}
	return false
}

// ports examines whether admin ports answer, and why processes are not ready.
func (e *examination) ports() {
	for i, p := range e.now.Ports {
		switch {
		case i == 0 && e.now.Status == nil: // unled reports it
		case p.Silence.Elsewhere():
			e.add(Changes, "AdshardTargetDown", e.nodes[i], fmt.Sprintf("%s cannot be asked at its admin port, %s: %s", named(e.nodes[i]), p.Address, p.Failed),
				p.Silence.away(p.Address)).asPort(e.awayHost(i))
		case p.Silence == Hung:
			e.add(Changes, "AdshardTargetDown", e.nodes[i], fmt.Sprintf("%s has not answered at its admin port, %s, within %s: it hangs, or its host is cut off", named(e.nodes[i]), p.Address, seconds(Wait)),
				e.restart(e.roleOf(i), e.nodes[i], true)).asPort("")
		case p.Silence == Strange:
			e.add(Changes, "AdshardTargetDown", e.nodes[i], fmt.Sprintf("%s cannot be asked at its admin port, %s: %s", named(e.nodes[i]), p.Address, p.Failed),
				"do not start it again for that: correct its address in `--admins`, with `http://` or `https://`, and `--ca`, `--cert` and `--key`").asPort("")
		case p.Failed != "":
			e.add(Changes, "AdshardTargetDown", e.nodes[i], fmt.Sprintf("%s does not answer at its admin port, %s: %s", named(e.nodes[i]), p.Address, p.Failed),
				e.restart(e.roleOf(i), e.nodes[i], false)+"; or correct the address in `--admins`").asPort("")
		case p.NotReady != "":
			e.add(Changes, "AdshardNotFilled", e.nodes[i], fmt.Sprintf("%s (%s) is not ready: %s", named(e.nodes[i]), p.Address, p.NotReady),
				"mend what it names; its log says more")
		}
	}
}

// roleOf returns the program of a port's process, or "" if that is not known.
func (e *examination) roleOf(port int) string {
	if e.slave(e.nodes[port]) != nil {
		return "slave"
	}
	return ""
}
