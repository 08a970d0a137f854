package doctor

import (
	"cmp"
	"slices"
	"strings"
)

// Harm is the kind of harm that a finding does to a cluster.
type Harm string

// The harms, worst first.
const (
	Answers Harm = "answers" // answers lack ads, are late, or are missing
	Data    Harm = "data"    // what is served, counted or spent may be wrong
	Changes Harm = "changes" // changes of the data or of the cluster do not arrive
	Reserve Harm = "reserve" // no harm yet, but one more failure or a few days would do some
	Balance Harm = "balance" // load is spread worse than it could be
)

// Harms returns all harms, worst first.
func Harms() []Harm { return []Harm{Answers, Data, Changes, Reserve, Balance} }

// Finding is something that is wrong.
type Finding struct {
	Harm Harm `json:"harm"`
	// Alert is the alert of deploy/alerts that means the same.
	Alert string `json:"alert"`
	// Node is the slave, shard, replica or other process that the finding is about, or "" for the
	// whole cluster.
	Node string `json:"node,omitempty"`
	What string `json:"what"`
	// Do says how to fix it, with the commands in backticks.
	Do string `json:"do"`
	// Runbook is the section on the alert.
	Runbook string `json:"runbook"`
	// Follows are the findings that this one explains: they go away when it is fixed.
	Follows []Finding `json:"follows,omitempty"`

	away      string // the host that cannot be reached, if it is that
	ofPort    bool   // it is about an admin port, not about what the balancer knows
	host      string // of a process that is refused
	unplanned bool   // it is that there is no plan yet
}

// asPort notes that a finding is about an admin port, of a host that cannot be reached unless that is "".
func (f *Finding) asPort(away string) { f.ofPort, f.away = true, away }

// Report says what is known about a cluster.
type Report struct {
	Healthy bool `json:"healthy"`
	// Findings are root causes, as far as they are known.
	Findings []Finding `json:"findings"`
	// Asked are the URLs of the ports that were asked.
	Asked []string `json:"asked"`
}

// findings collects findings.
type findings struct{ list []Finding }

// add adds a finding and returns it; it is valid until the next one is added.
func (f *findings) add(harm Harm, alert, node, what, do string) *Finding {
	f.list = append(f.list, Finding{Harm: harm, Alert: alert, Node: node, What: what, Do: do,
		Runbook: "docs/runbook.md#" + strings.ToLower(alert)})
	return &f.list[len(f.list)-1]
}

// has reports whether there is a finding of an alert about a node.
func (f *findings) has(alert, node string) bool {
	return slices.ContainsFunc(f.list, func(g Finding) bool { return g.Alert == alert && g.Node == node })
}

// hasAny reports whether there is a finding of an alert.
func (f *findings) hasAny(alert string) bool {
	return slices.ContainsFunc(f.list, func(g Finding) bool { return g.Alert == alert })
}

// sorted sorts findings by harm, and keeps the order of those of equal harm.
func sorted(list []Finding) []Finding {
	order := Harms()
	slices.SortStableFunc(list, func(a, b Finding) int {
		return cmp.Compare(slices.Index(order, a.Harm), slices.Index(order, b.Harm))
	})
	return list
}
