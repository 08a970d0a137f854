package faults

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// fault is something that happens to a cluster and is undone later. It is drawn before the cluster exists, and can be
// printed.
type fault interface {
	fmt.Stringer // the target and its parameters, as in the text of a schedule
	// touches names what no other fault may touch meanwhile: parts, "database" or "operator".
	touches() []string
	// do makes it happen, and undo ends it. undo is also called if do has failed.
	do(*grid) error
	undo(*grid) error
}

// kind is a kind of fault, a row of the table.
type kind struct {
	name   string
	weight int // how often it is drawn, relative to the others
	// draw draws a fault, or returns nil if the schedule cannot have one of this kind.
	draw func(dice *rand.Rand, s *schedule) fault
	// missing returns what the machine lacks for the fault, or "" if it lacks nothing; nil means that nothing is
	// needed. It is called before the schedule begins: whether a fault is played never depends on the cluster's
	// state, so that a replay plays the same faults.
	missing func(machine) string
	// least is the shortest time between do and undo, or 0 for 500 ms. The time may be up to 5 s longer.
	least time.Duration
}

// kinds returns all kinds of faults.
func kinds() []kind {
	return []kind{
		{name: "slave killed", weight: 4, draw: killed(slaveNames)},
		{name: "master killed", weight: 2, draw: killed(masterNames)},
		{name: "balancer killed", weight: 2, draw: killed(balancerNames)},
		{name: "distributor killed", weight: 2, draw: killed(distributorNames)},
		{name: "slave stopped", weight: 4, draw: stopped(slaveNames)},
		{name: "master stopped", weight: 2, draw: stopped(masterNames)},
		{name: "balancer stopped", weight: 2, draw: stopped(balancerNames)},
		{name: "distributor stopped", weight: 2, draw: stopped(distributorNames)},
		{name: "link cut", weight: 4, draw: cutLink(true), missing: noHosts},
		{name: "link cut one way", weight: 4, draw: cutLink(false), missing: noHosts},
		{name: "host cut off", weight: 3, draw: cutOff, missing: noHosts},
		{name: "link slow", weight: 3, draw: slowLink, missing: noHosts},
		{name: "disk full", weight: 2, draw: fullDisk, missing: noDisks},
		{name: "disk lost", weight: 2, draw: lostDisk, missing: noDisks},
		{name: "disk read-only", weight: 2, draw: readOnlyDisk, missing: noDisks},
		{name: "disk slow", weight: 3, draw: slowDisk, missing: noFUSE},
		{name: "bits flipped", weight: 2, draw: flippedBits},
		{name: "store of two moments", weight: 2, draw: mixedStore, least: 2 * time.Second},
		{name: "directory emptied", weight: 2, draw: emptied},
		{name: "directories swapped", weight: 1, draw: swapped},
		{name: "clock an hour off", weight: 2, draw: shiftedClock, missing: noShift},
		{name: "certificate expired", weight: 3, draw: certificateExpired, least: shortLife + 2*time.Second},
		{name: "certificates rotated", weight: 2, draw: certificatesRotated},
		{name: "database server killed", weight: 4, draw: serverKilled},
		{name: "database link cut", weight: 3, draw: cutDatabase(true), missing: noHosts},
		{name: "database link cut one way", weight: 3, draw: cutDatabase(false), missing: noHosts},
		{name: "etcd killed", weight: 3, draw: etcdKilled},
		{name: "etcd stopped", weight: 3, draw: etcdStopped},
		{name: "etcd link cut", weight: 3, draw: cutEtcd, missing: noHosts},
		{name: "import killed", weight: 2, draw: killedImport},
		{name: "migration killed", weight: 1, draw: killedMigration},
		{name: "outputs onto data", weight: 1, draw: outputsOntoData},
		{name: "database restored", weight: 1, draw: restored},
		{name: "another database", weight: 1, draw: otherDatabase},
		{name: "overload", weight: 2, draw: burst},
		{name: "replicas changed", weight: 1, draw: replicasChanged},
		{name: "slave added", weight: 1, draw: slaveAdded},
		{name: "slave drained", weight: 1, draw: slaveDrained},
		{name: "programs replaced", weight: 1, draw: programsReplaced},
		{name: "strategy switched", weight: 4, draw: strategySwitched},
	}
}

// The parts of every grid.
const (
	slaveCount  = 6
	masterCount = 2
	replicas    = 2
)

func names(of string, n int) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprint(of, "-", i))
	}
	return list
}

func slaveNames() []string       { return names("slave", slaveCount) }
func masterNames() []string      { return names("master", masterCount) }
func balancerNames() []string    { return names("balancer", 2) }
func distributorNames() []string { return names("distributor", 1) }

func allNames() (list []string) {
	for _, some := range [][]string{slaveNames(), masterNames(), balancerNames(), distributorNames()} {
		list = append(list, some...)
	}
	return list
}

func pick[T any](dice *rand.Rand, list []T) T { return list[dice.IntN(len(list))] }

// on implements the text and the targets of most faults.
type on []string

func (o on) String() string    { return strings.Join(o, " ") }
func (o on) touches() []string { return o }
