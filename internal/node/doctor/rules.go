package doctor

import (
	"fmt"
	"strings"

	"adshard/internal/shell"
)

// rule turns a series into a finding. In `what` and `do`, {label} stands for that label of the
// series.
type rule struct {
	alert string
	harm  Harm
	of    selector
	// above is the bound that the value must exceed; for a counter, it bounds the growth per second.
	above    float64
	node     string // the label that names the node
	what, do string
}

// growthRules returns rules for counters that grow only if something is wrong, with the selectors of
// the alerts.
func growthRules() []rule {
	return []rule{
		{"AdshardShardMissing", Answers, where("adshard_missing_total", "reason", "silent|damaged|foreign|excess|failed|version"), 0, "shard",
			"answers lack {shard}: {reason}", "`adshard slaves list` says what its TROUBLE is; the slave's log says more"},
		{"AdshardOverloaded", Answers, where("adshard_overloads_total"), 1, "node",
			"{node} refuses searches: more come than can be answered in time", "add slaves, replicas or masters: `adshard size` computes how many; let clients wait for `Retry-After`"},
		{"AdshardDamage", Data, where("adshard_blocks_bad_total", "node", "slave.*"), 0, "node",
			"{node} meets damaged data", "it repairs itself; look for errors of its disk: `dmesg`"},
		{"AdshardDamage", Data, where("adshard_repairs_total"), 0, "node",
			"{node} has discarded data that were damaged or missing", "it refills them; look for errors of its disk: `dmesg`"},
		{"AdshardDamage", Data, where("adshard_memory_differences_total"), 0, "node",
			"what {node} had in memory differed from its store", "test the memory of its machine"},
		{"AdshardPanics", Answers, where("adshard_panics_total"), 0, "node",
			"searches of {node} fail due to a defect", "report it with the stack, which its log has: `a search panicked`"},
		{"AdshardCopiesDiffer", Data, where("adshard_balancer_scrub_differences_total"), 0, "",
			"what a slave serves differed from the database", "it is discarded and refilled by itself; the balancer's log names the slave: test its disk and memory"},
		{"AdshardCopiesDiffer", Data, where("adshard_balancer_certificates_total", "outcome", "different"), 0, "",
			"the copy of a slice differed from the database", "it is discarded and made again; the balancer's log names the slave: test its disk and memory"},
		{"AdshardBudgetChecksFail", Data, where("adshard_budget_checks_failed_total"), 0, "node",
			"{node} cannot decide on budgets: campaigns may spend more than theirs", "its log names what fails: the database, or the balancer that marks campaigns"},
		{"AdshardLearningFails", Changes, where("adshard_learning_rounds_total", "outcome", "failed"), 0, "node",
			"{node} cannot learn qualities; they stay as they are", "its log names what fails, `qualities cannot be learned`: it reads counts of events and writes keywords; look for damage with `adshard db check`"},
		{"AdshardEventsRefused", Data, where("adshard_event_batches_refused_total", "kind", "unavailable|locked|no_space"), 0, "node",
			"{node} cannot take events: {kind}", "make room on the disk of its database, or repair that; senders repeat what was refused"},
		{"AdshardEventsRejected", Data, where("adshard_events_total", "outcome", "future|forged"), 0, "node",
			"events at {node} are rejected: {outcome}", "`future`: set the clocks of masters and collectors; `forged`: find out where they come from"},
		{"AdshardCallsRefused", Changes, where("adshard_calls_refused_total"), 0, "node",
			"{node} refuses calls that their caller may not make", "give the program a certificate of its own: `adshard cert issue ROLE NAME`; the log of {node} names the caller"},
		{"AdshardConnectionsEvicted", Reserve, where("adshard_connections_evicted_total", "port", "peers"), 0, "node",
			"{node} closes connections of peers, since it may not open more files", "raise its limit (`ulimit -n`) and restart it"},
		{"AdshardSecondCallsUsedUp", Reserve, where("adshard_budget_used_up_total", "budget", "again"), 0, "shard",
			"calls to other replicas of {shard} have reached their limit", "repair the replica that does not answer: `adshard slaves list`"},
		{"AdshardProposalsRefused", Balance, where("adshard_balancer_refusals_total"), 0, "",
			"the balancer refuses what its strategy proposes", "correct the strategy or the limits: `adshard balance plan`, `adshard balance strategy`"},
		{"AdshardProposalsRefused", Balance, where("adshard_balancer_loads_ignored_total"), 0, "",
			"the balancer ignores reports of load", "`adshard balance status --json` says why (`ignored_loads`)"},
	}
}

// growth examines the growth between the two looks.
func (e *examination) growth() {
	for i := range e.now.Ports {
		grown := e.grown(i)
		for _, r := range growthRules() {
			e.apply(r, grown, r.above*e.took.Seconds())
		}
	}
}

// apply adds the findings of a rule, except those that exist already.
func (e *examination) apply(r rule, list []Sample, above float64) {
	for i := range list {
		s := &list[i]
		if node := s.Labels[r.node]; r.of.fits(s) && s.Value > above && !e.has(r.alert, node) {
			e.add(r.harm, r.alert, node, filled(r.what, s), filled(r.do, s))
		}
	}
}

// filled replaces {label} in a text by the labels of a sample.
func filled(text string, s *Sample) string {
	for name, value := range s.Labels {
		text = strings.ReplaceAll(text, "{"+name+"}", value)
	}
	return text
}

// valueRules returns rules for metrics whose value shows that something is wrong.
func valueRules() []rule {
	return []rule{
		{"AdshardReplicaLeftOut", Reserve, where("adshard_replica_left_out"), 0, "replica",
			"masters do not ask {replica} of {shard}: {why}", "is its process running, and its host? Restart a process that hangs; it is asked again once it answers"},
		{"AdshardSlaveInTrouble", Changes, where("adshard_in_trouble"), 0, "node",
			"{node} makes no progress", "`/readyz` of its admin port and its log say why; it goes on by itself then"},
		{"AdshardSlaveInRepair", Reserve, where("adshard_in_repair"), 0, "node",
			"{node} does not serve a part of its data, and refills it", "nothing at first; if it happens again, replace its disk"},
	}
}

// soon is the remaining validity, in seconds, below which a certificate is reported, as in its
// alert.
const soon = 5 * 86400

// gauges examines present values, not what changed between the looks.
func (e *examination) gauges() {
	for i, p := range e.now.Ports {
		for _, r := range valueRules() {
			e.apply(r, p.Metrics, 0)
		}
		for j := range p.Metrics {
			switch s := &p.Metrics[j]; {
			case s.Name == "adshard_certificate_left_seconds" && s.Value < soon:
				e.certificate(s)
			case s.Name == "adshard_filled" && s.Value == 0:
				e.add(Answers, "AdshardNotFilled", s.Labels["node"], "the first fill has not ended: "+s.Labels["node"]+" has no complete answers yet",
					"`adshard slaves list --watch` shows how far it is; start slaves that are missing")
			case stalling(s) && e.stalled(i, s):
				e.add(Changes, "AdshardStoreStalls", s.Labels["node"], "the disk of "+s.Labels["node"]+" does not keep up with what it writes",
					"during a fill wait; otherwise look at the disk (`iostat -x`), and spread the load over more slaves")
			}
		}
	}
}

func (e *examination) certificate(s *Sample) {
	harm, when := Reserve, fmt.Sprintf("expires in %.1f days", s.Value/86400)
	if s.Value <= 0 {
		harm, when = Answers, "has expired"
	}
	e.add(harm, "AdshardCertificateExpires", s.Labels["node"], fmt.Sprintf("the certificate of %s (%s) %s", s.Labels["node"], s.Labels["port"], when),
		fmt.Sprintf("`adshard cert rotate ROLE %s`, and bring the files to its machine", shell.Word(s.Labels["node"])))
}

func stalling(s *Sample) bool {
	return (s.Name == "adshard_rocksdb_writes_delayed" || s.Name == "adshard_rocksdb_writes_stopped") && s.Value > 0
}

// stalled reports whether a series was above 0 at the first look, too, and has no finding yet.
func (e *examination) stalled(port int, s *Sample) bool {
	if e.took <= 0 || port >= len(e.before.Ports) || e.has("AdshardStoreStalls", s.Labels["node"]) {
		return false
	}
	for i := range e.before.Ports[port].Metrics {
		if was := &e.before.Ports[port].Metrics[i]; was.Series == s.Series {
			return was.Value > 0
		}
	}
	return false
}
