package doctor

import (
	"fmt"
	"slices"
	"time"

	"adshard/internal/node/config"
	"adshard/internal/node/httpapi/api"
	"adshard/internal/shell"
)

// fresh is how long a balancer that was started, or has begun to lead, is given to hear from all slaves.
const fresh = 10 * time.Second

// nodesOfPorts returns the process of each port: the one that its metrics name. A port that is silent is that of a slave of its host
// that is missing, if there are as many of these as silent ports.
func (e *examination) nodesOfPorts() []string {
	nodes := make([]string, len(e.now.Ports))
	silent := make(map[string][]int) // indexes, by host
	for i, p := range e.now.Ports {
		nodes[i] = nodeOf(p.Metrics)
		if nodes[i] == "" && i < len(e.before.Ports) {
			nodes[i] = nodeOf(e.before.Ports[i].Metrics)
		}
		if nodes[i] == "" && i > 0 && p.Failed != "" {
			silent[hostOf(p.Address)] = append(silent[hostOf(p.Address)], i)
		}
	}
	for h, ports := range silent {
		var missing []string
		for i := range e.slavesNow() {
			if s := &e.now.Slaves.Slaves[i]; host(s.Address) == h && e.isMissing(s) && !slices.Contains(nodes, s.Name) {
				missing = append(missing, s.Name)
			}
		}
		for k, i := range ports {
			if len(missing) == len(ports) {
				nodes[i] = missing[k]
			}
		}
	}
	return nodes
}

func (e *examination) slavesNow() []api.Slave {
	if e.now.Slaves == nil {
		return nil
	}
	return e.now.Slaves.Slaves
}

// isMissing reports whether the balancer does not hear from a slave, or masters get no answer from it.
func (e *examination) isMissing(s *api.Slave) bool {
	if !s.Alive {
		return true
	}
	if e.probe != nil && e.probe.Answer != nil {
		switch e.probe.Answer.Coverage.Reasons[e.shardOf(s.Name)] {
		case api.MissingReasonUnreachable, api.MissingReasonSilent, api.MissingReasonLate:
			return true
		}
	}
	for _, p := range e.now.Ports {
		if samples(p.Metrics).sum(where("adshard_replica_left_out", "replica", s.Name)) > 0 {
			return true
		}
	}
	return false
}

// nodeOf returns the one node that metrics name, or "" if there are none or several.
func nodeOf(metrics []Sample) (node string) {
	for i := range metrics {
		switch of := metrics[i].Labels["node"]; {
		case of == "" || of == node:
		case node != "":
			return ""
		default:
			node = of
		}
	}
	return node
}

// starter returns what starts the processes of this cluster again, as far as any says.
func (e *examination) starter() config.Starter {
	for _, look := range []*Look{e.now, e.before} {
		for _, p := range look.Ports {
			for i := range p.Metrics {
				if s := &p.Metrics[i]; s.Name == "adshard_process_started_seconds" {
					return config.Starter(s.Labels["by"])
				}
			}
		}
	}
	return config.Hand
}

// logOf says where the log of a process is, as the end of a sentence.
func (e *examination) logOf(role, name string) string {
	if e.starter() == config.Systemd {
		return fmt.Sprintf("its log says why: `journalctl -u %s -n 20`", unit(role, name))
	}
	return "its log says why"
}

// restart says how to have a process again: one that ended, or one that may hang.
func (e *examination) restart(role, name string, hangs bool) string {
	switch by := e.starter(); {
	case role == "" && hangs:
		return "end its process if it hangs (`kill -KILL PID`), then start it again"
	case role == "":
		return "its log says why it ended; start it again"
	case by == config.Up && hangs:
		return "end its process if it hangs (`kill -KILL PID`): `adshard up` starts it again by itself"
	case by == config.Up:
		return "`adshard up` starts it again by itself; if it does not come back, the log of `up` says why"
	case by == config.Systemd && hangs:
		return fmt.Sprintf("end its process if it hangs: `systemctl kill -s KILL %[1]s`, then `systemctl restart %[1]s`", unit(role, name))
	case by == config.Systemd:
		return fmt.Sprintf("%s; then `systemctl restart %s`", e.logOf(role, name), unit(role, name))
	case hangs:
		return fmt.Sprintf("end its process if it hangs (`kill -KILL PID`), then start it again: `%s --config FILE`", role)
	}
	return fmt.Sprintf("its log says why it ended; start it again: `%s --config FILE`", role)
}

// away says what to do about a port that is silent for a reason that lies elsewhere.
func (s Silence) away(address string) string {
	host := shell.Word(hostOf(address))
	if s == Nameless {
		return fmt.Sprintf("leave its process alone, and see why the name has no address: `getent hosts %s`; or correct the name", host)
	}
	return fmt.Sprintf("leave its process alone, and see to the network first: is its host up, and does no firewall stand between (`ping -c 1 %s`)? Or correct the address", host)
}

// awayHost returns the host of a port that cannot be reached, or "" if it can.
func (e *examination) awayHost(port int) string {
	if port >= len(e.now.Ports) || !e.now.Ports[port].Silence.Elsewhere() {
		return ""
	}
	return hostOf(e.now.Ports[port].Address)
}

// unit returns the unit of systemd that runs a process, as a word of a command.
func unit(role, name string) string {
	if role == "slave" {
		return shell.Word("adshard-slave@" + name)
	}
	return "adshard-" + role
}

// age returns how long the process of a port has run, or a large time if that is not known.
func (e *examination) age(port int) time.Duration {
	if port >= len(e.now.Ports) {
		return time.Hour
	}
	list := samples(e.now.Ports[port].Metrics)
	began, clock := list.sum(where("adshard_process_started_seconds")), list.sum(where("adshard_clock_seconds"))
	if began == 0 || clock < began { // the clock was set back since
		return time.Hour
	}
	return time.Duration((clock - began) * float64(time.Second))
}

// led returns how long the balancer has led, or a large time if that is not known.
func (e *examination) led() time.Duration {
	ran := e.age(0)
	if len(e.now.Ports) == 0 {
		return ran
	}
	list := samples(e.now.Ports[0].Metrics)
	began, clock := list.sum(where("adshard_balancer_leads_since_seconds")), list.sum(where("adshard_clock_seconds"))
	if began == 0 || clock < began { // the clock was set back since
		return ran
	}
	return min(ran, time.Duration((clock-began)*float64(time.Second)))
}

// wrongClock is how much the clocks of two machines may differ, as in its alert.
const wrongClock = 30 * time.Second

// clocks compares the clocks of all processes with the one of this machine. If most of them differ in the same way, this one is wrong.
func (e *examination) clocks() {
	var off []time.Duration
	var of []int
	for i, p := range e.now.Ports {
		if clock := samples(p.Metrics); clock.sum(where("adshard_clock_seconds")) > 0 {
			var seconds float64 // of one of its nodes; they share the clock
			for j := range clock {
				if clock[j].Name == "adshard_clock_seconds" {
					seconds = clock[j].Value
				}
			}
			off, of = append(off, time.UnixMilli(int64(seconds*1000)).Sub(p.At)), append(of, i)
		}
	}
	if len(off) == 0 {
		return
	}
	middle, agree := slices.Sorted(slices.Values(off))[(len(off)-1)/2], 1
	for _, d := range off {
		if d.Abs() <= wrongClock {
			agree++
		}
	}
	if 2*agree >= len(off)+1 { // of all clocks, with the one of this machine
		middle = 0
	}
	if middle.Abs() > wrongClock {
		e.add(Data, "AdshardClocksDiffer", "", fmt.Sprintf("the clock of this machine, where doctor runs, is %s the cluster's", apart(-middle)), "run NTP on this machine: `timedatectl`")
	}
	for k, i := range of {
		if d := off[k] - middle; d.Abs() > wrongClock {
			e.add(Data, "AdshardClocksDiffer", e.nodes[i], fmt.Sprintf("the clock of the machine of %s (%s) is %s the others'", named(e.nodes[i]), e.now.Ports[i].Address, apart(d)),
				"run NTP on that machine: `timedatectl`; until then hours of campaigns, budgets and events are judged by a wrong time there")
		}
	}
}

func named(node string) string {
	if node == "" {
		return "the process"
	}
	return node
}

func apart(d time.Duration) string {
	if d < 0 {
		return seconds(-d) + " behind"
	}
	return seconds(d) + " ahead of"
}

func (e *examination) refusals() {
	if e.now.Slaves == nil {
		return
	}
	for _, r := range e.now.Slaves.Refused {
		harm := Changes
		if e.now.Status.Waiting != "" {
			harm = Answers
		}
		what := fmt.Sprintf("the balancer refuses %s at %s: %s", r.Name, r.Address, r.Why)
		if s := e.slave(r.Name); s != nil {
			if s.Address == r.Address && s.Alive {
				what = fmt.Sprintf("%s at %s: %s", r.Name, r.Address, r.Why)
			}
			harm = e.harmOf(s, Changes)
		}
		do := "do as it says; " + e.logOf("slave", r.Name)
		if r.Name == "" {
			what = fmt.Sprintf("the balancer refuses a process at %s: %s", r.Address, r.Why)
			do = "give that process a certificate of this cluster's CA: `adshard cert issue ROLE NAME`; " + e.logOf("slave", "NAME")
		}
		e.add(harm, "AdshardCallsRefused", r.Name, what, do).host = host(r.Address)
	}
}
