package doctor

import (
	"cmp"
	"net"
	"net/url"
	"slices"

	"adshard/fault"
	"adshard/internal/node/httpapi/api"
)

// tie says that a finding with one of the causes explains a finding with one of the effects, if `related` returns true. No
// chain of ties leads from an alert back to itself.
type tie struct {
	causes, effects []string
	related         func(e *examination, cause, effect *Finding) bool
}

// ties returns all ties, the likeliest cause of an effect first.
func ties() []tie {
	slave := []string{"AdshardTargetDown", "AdshardSlaveInTrouble", "AdshardDamage", "AdshardSlaveInRepair"}
	leads, refused := []string{"AdshardNoBalancerLeads"}, []string{"AdshardCallsRefused"}
	return []tie{
		{refused, []string{"AdshardTargetDown", "AdshardSlaveInTrouble", "AdshardSlaveInRepair", "AdshardNotFilled", "AdshardReplicaLeftOut"}, refusedNode},
		{refused, []string{"AdshardTargetDown"}, nameless},
		{refused, []string{"AdshardIncompleteAnswers", "AdshardShardMissing"}, refusedShard},
		{refused, []string{"AdshardNotFilled", "AdshardFailedAnswers"}, whileNoPlan},
		{[]string{"AdshardTargetDown"}, []string{"AdshardTargetDown"}, itsPort},
		{slave, []string{"AdshardIncompleteAnswers", "AdshardShardMissing", "AdshardSecondCallsUsedUp"}, sameShard},
		{slave, []string{"AdshardReplicaLeftOut", "AdshardCondemnedSlices"}, sameNode},
		{[]string{"AdshardDamage"}, []string{"AdshardSlaveInRepair"}, sameNode},
		{slave, []string{"AdshardNotFilled", "AdshardIncompleteAnswers", "AdshardFailedAnswers", "AdshardSlowAnswers"}, wholeCluster},
		{slave, []string{"AdshardMapNotPublished"}, ofSlave},
		{[]string{"AdshardTargetDown"}, []string{"AdshardSlaveStuck"}, itsDistributor},
		{leads, []string{"AdshardTargetDown", "AdshardFailedAnswers"}, sameHost},
		{[]string{"AdshardTargetDown"}, []string{"AdshardTargetDown", "AdshardFailedAnswers"}, sameHost},
		{leads, []string{"AdshardNotFilled", "AdshardSlaveInTrouble", "AdshardSlaveStuck", "AdshardBudgetChecksFail"}, always},
		{[]string{"AdshardSlaveInTrouble"}, []string{"AdshardSlaveInTrouble"}, sameDisk},
		{[]string{"AdshardNotFilled"}, []string{"AdshardNotFilled"}, noPlan},
		{[]string{"AdshardNotFilled"}, []string{"AdshardFailedAnswers"}, always},
		{[]string{"AdshardOverloaded"}, []string{"AdshardIncompleteAnswers", "AdshardSlowAnswers"}, wholeCluster},
		{[]string{"AdshardIncompleteAnswers"}, []string{"AdshardShardMissing", "AdshardSecondCallsUsedUp"}, sameShard},
		{[]string{"AdshardBalancingPaused", "AdshardProposalsRefused"}, []string{"AdshardUnevenLoad"}, always},
	}
}

// refusedNode and refusedShard report whether the cause is that the balancer refuses the process of the effect, or one of its shard.
func refusedNode(_ *examination, cause, effect *Finding) bool {
	return cause.host != "" && cause.Node != "" && cause.Node == effect.Node
}

func refusedShard(e *examination, cause, effect *Finding) bool {
	return cause.host != "" && cause.Node != "" && sameShard(e, cause, effect)
}

// nameless reports whether the cause is a process that has not come to name itself, on the host of a slave that is away.
func nameless(e *examination, cause, effect *Finding) bool {
	s := e.slave(effect.Node)
	return cause.Node == "" && cause.host != "" && s != nil && cause.host == host(s.Address)
}

// whileNoPlan reports whether the cluster waits for slaves, which the cause keeps away.
func whileNoPlan(e *examination, cause, effect *Finding) bool {
	return cause.host != "" && cause.Harm == Answers && e.now.Status != nil && e.now.Status.Waiting != "" && effect.Alert != cause.Alert && !e.ofData(effect.Node)
}

// itsPort reports whether the effect is that the port of a slave is silent which is away.
func itsPort(_ *examination, cause, effect *Finding) bool {
	return effect.ofPort && !cause.ofPort && effect.Node != "" && cause.Node == effect.Node
}

// sameHost reports whether the findings are about ports of one host that cannot be reached, and the cause is the first of its kind.
func sameHost(e *examination, cause, effect *Finding) bool {
	if cause.away == "" || cause.away != effect.away {
		return false
	}
	first := slices.IndexFunc(e.list, func(f Finding) bool { return f.Alert == cause.Alert && f.away == cause.away })
	return &e.list[first] == cause
}

func always(*examination, *Finding, *Finding) bool { return true }

func sameNode(_ *examination, cause, effect *Finding) bool { return cause.Node == effect.Node }

func sameShard(e *examination, cause, effect *Finding) bool {
	return effect.Node != "" && e.shardOf(cause.Node) == e.shardOf(effect.Node)
}

// wholeCluster reports whether the effect concerns the cluster, or a process in front of the slaves, and the cause removes
// ads from answers.
func wholeCluster(e *examination, cause, effect *Finding) bool {
	return cause.Harm == Answers && !e.ofData(effect.Node)
}

// ofData reports whether a name is the name of a slave or of a shard.
func (e *examination) ofData(name string) bool {
	return name != "" && e.now.Slaves != nil && slices.ContainsFunc(e.now.Slaves.Slaves, func(s api.Slave) bool { return s.Name == name || s.Shard == name })
}

func ofSlave(e *examination, cause, _ *Finding) bool { return e.slave(cause.Node) != nil }

func itsDistributor(e *examination, cause, effect *Finding) bool {
	s := e.slave(effect.Node)
	return s != nil && s.Distributor != "" && s.Distributor == cause.Node
}

// sameDisk reports whether the findings are about two slaves of one host, which lack the same: room, or what they cannot reach. Troubles of
// other kinds are each slave's own.
func sameDisk(e *examination, cause, effect *Finding) bool {
	a, b := e.slave(cause.Node), e.slave(effect.Node)
	return a != nil && b != nil && a.Name < b.Name && a.TroubleKind == b.TroubleKind && lacking(a.TroubleKind) && host(a.Address) == host(b.Address)
}

// lacking reports whether a kind of trouble is that of what a slave uses, not of the slave.
func lacking(kind string) bool {
	return slices.Contains([]string{fault.NoSpace.String(), fault.Unavailable.String(), fault.Deadline.String()}, kind)
}

// noPlan reports whether the cause is that there is no plan yet, and the effect's process may be waiting for it.
func noPlan(_ *examination, cause, effect *Finding) bool {
	return cause.unplanned && !effect.unplanned
}

func host(address string) string {
	h, _, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	return h
}

// hostOf returns the host of a URL.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	return u.Hostname()
}

// folded puts each finding that another one explains below its root cause, which then gets the worst harm among them.
func (e *examination) folded() []Finding {
	root := make([]int, len(e.list))
	for i := range e.list {
		root[i] = e.causeOf(i)
	}
	var list []Finding
	at := make(map[int]int) // index in list, by root
	for i := range e.list {
		if root[i] < 0 {
			at[i] = len(list)
			list = append(list, e.list[i])
		}
	}
	for i := range e.list {
		j := i
		for root[j] >= 0 {
			j = root[j]
		}
		if j != i {
			f := &list[at[j]]
			f.Follows = append(f.Follows, e.list[i])
			f.Harm = worse(f.Harm, e.list[i].Harm)
		}
	}
	return list
}

// causeOf returns the index of the finding that explains another one, or -1 if none does.
func (e *examination) causeOf(effect int) int {
	for _, t := range ties() {
		if !slices.Contains(t.effects, e.list[effect].Alert) {
			continue
		}
		for i := range e.list {
			if i != effect && slices.Contains(t.causes, e.list[i].Alert) && t.related(e, &e.list[i], &e.list[effect]) {
				return i
			}
		}
	}
	return -1
}

func worse(a, b Harm) Harm {
	order := Harms()
	return order[min(slices.Index(order, a), slices.Index(order, b))]
}

// shardOf returns the shard of a slave. Any other name is returned as it is.
func (e *examination) shardOf(name string) string {
	if s := e.slave(name); s != nil {
		return cmp.Or(s.Shard, s.Name)
	}
	return name
}
