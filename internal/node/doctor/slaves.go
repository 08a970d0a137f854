package doctor

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"adshard/fault"
	"adshard/internal/node/httpapi/api"
	"adshard/internal/shell"
)

// slaves examines each slave that the balancer knows.
func (e *examination) slaves() {
	if e.now.Slaves == nil {
		return
	}
	for i := range e.now.Slaves.Slaves {
		s := &e.now.Slaves.Slaves[i]
		switch {
		case s.State == api.SlaveStateDrained:
		case !s.Alive && s.SeenMs == nil && e.led() < fresh: // the balancer has only just begun to lead
		case !s.Alive:
			e.away(s)
		case s.Trouble != "":
			e.add(e.harmOf(s, Changes), "AdshardSlaveInTrouble", s.Name, s.Name+" makes no progress: "+s.Trouble,
				getOn(s.TroubleKind))
		case !s.Serving && s.Slices > 0:
			e.add(e.harmOf(s, Reserve), "AdshardSlaveInRepair", s.Name,
				fmt.Sprintf("%s does not serve all of its data yet: %s", s.Name, cmp.Or(s.WaitsFor, "it is being filled")),
				"nothing at first: `adshard slaves list --watch` shows how far it is; if it does not end, look at its log")
		case e.stuck(s):
			e.add(Changes, "AdshardSlaveStuck", s.Name,
				fmt.Sprintf("%s lacks the newest %d changes, and has applied none for %s", s.Name, e.now.Slaves.Clock-s.AppliedClock, seconds(e.took)),
				"look at its log and at that of the balancer; is an entity damaged? `adshard db check --db URL`")
		}
	}
}

// getOn says how a slave with a trouble of a kind gets on.
func getOn(kind string) string {
	switch kind {
	case fault.NoSpace.String():
		return "make room on that disk: it goes on by itself then"
	case fault.Unavailable.String(), fault.Deadline.String():
		return "see to what it cannot reach, and to the network between them: it goes on by itself then"
	case fault.Conflict.String(), fault.Forbidden.String():
		return "correct its `balancer`, or the `db` of the balancer: it goes on by itself then"
	}
	return "as it says: make room on a full disk, start the balancer, or correct `balancer` or `db`; it goes on by itself then"
}

// harmOf returns Answers if the data of a slave is served by no other slave either, and otherwise `other`.
func (e *examination) harmOf(s *api.Slave, other Harm) Harm {
	if s.Slices > 0 && (!s.Alive || !s.Serving) && !e.replaced(s) {
		return Answers
	}
	return other
}

// replaced reports whether another replica of the slave's shard answers in its place.
func (e *examination) replaced(s *api.Slave) bool {
	return s.Shard != "" && slices.ContainsFunc(e.now.Slaves.Slaves, func(o api.Slave) bool {
		return o.Name != s.Name && o.Shard == s.Shard && o.Alive && o.Serving
	})
}

func (e *examination) away(s *api.Slave) {
	what := s.Name + " is away: it has not reported to this balancer"
	if s.SeenMs != nil {
		what = fmt.Sprintf("%s is away: it reported last %s ago", s.Name, seconds(time.Duration(*s.SeenMs)*time.Millisecond))
	}
	harm := e.harmOf(s, Reserve)
	if harm == Answers {
		what += ", and no other slave serves its data"
	}
	do, away := e.restart("slave", s.Name, e.silent(s)), ""
	if i := slices.Index(e.nodes, s.Name); i >= 0 && e.awayHost(i) != "" {
		away = e.awayHost(i)
		what += "; " + e.now.Ports[i].Failed
		do = e.now.Ports[i].Silence.away(e.now.Ports[i].Address)
	}
	if harm == Answers {
		do += fmt.Sprintf("; if it is gone for good, fill others with its data: `adshard slaves drain %[1]s`, then `adshard slaves remove %[1]s`", shell.Word(s.Name))
	} else {
		do += fmt.Sprintf("; if it is gone for good: `adshard slaves remove %s`", shell.Word(s.Name))
	}
	e.add(harm, "AdshardTargetDown", s.Name, what, do).away = away
}

// silent reports whether the search, or its admin port, got no answer at all from a slave's host. A process that is stopped causes that;
// one that has ended refuses the connection.
func (e *examination) silent(s *api.Slave) bool {
	if i := slices.Index(e.nodes, s.Name); i >= 0 && e.now.Ports[i].Silence == Hung {
		return true
	}
	return e.probe != nil && e.probe.Answer != nil && e.probe.Answer.Coverage.Reasons[e.shardOf(s.Name)] == api.MissingReasonSilent
}

// slave returns the slave with a name from the balancer's list, or nil if there is none.
func (e *examination) slave(name string) *api.Slave {
	if e.now.Slaves == nil {
		return nil
	}
	i := slices.IndexFunc(e.now.Slaves.Slaves, func(s api.Slave) bool { return s.Name == name })
	if i < 0 {
		return nil
	}
	return &e.now.Slaves.Slaves[i]
}

// stuck reports whether a slave lacks changes and has applied none between the looks, although it has reported.
func (e *examination) stuck(s *api.Slave) bool {
	if e.before.Slaves == nil || s.AppliedClock >= e.now.Slaves.Clock || s.Slices == 0 ||
		s.SeenMs == nil || time.Duration(*s.SeenMs)*time.Millisecond >= e.took {
		return false
	}
	list := e.before.Slaves
	i := slices.IndexFunc(list.Slaves, func(o api.Slave) bool { return o.Name == s.Name })
	return i >= 0 && list.Slaves[i].AppliedClock == s.AppliedClock && s.AppliedClock < list.Clock
}

// seconds writes a time in a unit that suits its size.
func seconds(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	}
	return fmt.Sprintf("%d min", d/time.Minute)
}
