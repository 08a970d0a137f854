package faults

import (
	"slices"
	"testing"
)

// groups are the rows of docs/reliability.md: each joins similar kinds of faults.
var groups = []struct {
	name  string
	kinds []string
}{
	{"a process killed", []string{"slave killed", "master killed", "balancer killed", "distributor killed"}},
	{"a process stopped for a while", []string{"slave stopped", "master stopped", "balancer stopped", "distributor stopped"}},
	{"a link cut or slow, a host cut off", []string{"link cut", "link cut one way", "host cut off", "link slow"}},
	{"a slave's disk full, lost, read-only or slow", []string{"disk full", "disk lost", "disk read-only", "disk slow"}},
	{"a store damaged, emptied or swapped", []string{"bits flipped", "store of two moments", "directory emptied", "directories swapped"}},
	{"a clock an hour off", []string{"clock an hour off"}},
	{"certificates expired or rotated", []string{"certificate expired", "certificates rotated"}},
	{"PostgreSQL killed or cut off", []string{"database server killed", "database link cut", "database link cut one way"}},
	{"etcd killed, stopped or cut off", []string{"etcd killed", "etcd stopped", "etcd link cut"}},
	{"the database restored", []string{"database restored"}},
	{"an import or migration killed, another database, outputs onto data", []string{"import killed", "migration killed", "outputs onto data", "another database"}},
	{"overload", []string{"overload"}},
	{"slaves, replicas, programs or the strategy changed", []string{"slave added", "slave drained", "replicas changed", "programs replaced", "strategy switched"}},
}

// groupOf returns the row of a kind of fault: its group, or its own name if no group has it.
func groupOf(kind string) string {
	for _, g := range groups {
		if slices.Contains(g.kinds, kind) {
			return g.name
		}
	}
	return kind
}

// groupNames returns the names of the groups in their order.
func groupNames() (names []string) {
	for _, g := range groups {
		names = append(names, g.name)
	}
	return names
}

// TestGroups: each kind is in one group, and groups contain only kinds.
func TestGroups(t *testing.T) {
	var grouped []string
	for _, g := range groups {
		grouped = append(grouped, g.kinds...)
	}
	slices.Sort(grouped)
	all := kindNames()
	slices.Sort(all)
	if !slices.Equal(grouped, all) {
		t.Errorf("groups have\n%q, kinds are\n%q", grouped, all)
	}
}
