package audit

import (
	"flag"
	"os"
	"testing"
	"time"

	"adshard/internal/clustertest"
)

// settings of a run; the defaults are for the short form.
type settings struct {
	duration, strategy, kill time.Duration
	rate, changes            int
	db, queries              string
	slaves                   int
	harm                     bool
	replicas                 replicaSettings
	before                   string
}

// replicaSettings are the settings of TestAuditOfReplicas.
type replicaSettings struct {
	fault          string
	duration, rest time.Duration
	every          time.Duration
	rate           int
	change, timed  bool
	share          float64
}

var chosen settings

// TestMain runs the tests, or, if this program was started as a part of a cluster (COMMAND --config FILE), that part.
func TestMain(m *testing.M) {
	clustertest.BePart()
	flag.DurationVar(&chosen.duration, "audit.duration", 18*time.Second, "how long queries are asked")
	flag.DurationVar(&chosen.strategy, "audit.strategy", 0, "the time between two switches of the strategy; 0: a second, and two with replicas")
	flag.DurationVar(&chosen.kill, "audit.kill", 3*time.Second, "the time between two kills")
	flag.IntVar(&chosen.rate, "audit.rate", 200, "queries a second")
	flag.IntVar(&chosen.changes, "audit.changes", 100, "changes of data a second")
	flag.IntVar(&chosen.slaves, "audit.slaves", 7, "slaves")
	flag.BoolVar(&chosen.harm, "audit.harm", false, "besides killing: hang, flip bits, take files away, restore, start on other databases")
	flag.StringVar(&chosen.db, "audit.db", "", "a database to copy in place of the golden corpus; needs -audit.queries")
	flag.StringVar(&chosen.queries, "audit.queries", "", "a file of queries, one a line")
	flag.StringVar(&chosen.before, "audit.before", "", "the directory with the programs of an earlier commit, for TestUpgrade")
	r := &chosen.replicas
	flag.StringVar(&r.fault, "audit.fault", "kill", "what happens to replicas: kill (slaves), stop (SIGSTOP, and SIGCONT after 2 to 12 s, or sooner, after half of -audit.every), or master (masters are killed)")
	flag.DurationVar(&r.rest, "audit.rest", time.Second, "how long replicas are asked before the first fault")
	flag.DurationVar(&r.duration, "audit.faults", 5*time.Second, "how long replicas are asked under faults")
	flag.DurationVar(&r.every, "audit.every", 2*time.Second, "the time between two faults of replicas")
	flag.IntVar(&r.rate, "audit.queries-a-second", 100, "queries a second to replicas")
	flag.BoolVar(&r.change, "audit.change", false, "change the number of replicas: 1, 2 before the faults, 1 after them, and 2 while a slave dies")
	flag.Float64Var(&r.share, "audit.complete", 0.99, "the share of answers under faults that must be complete")
	flag.BoolVar(&r.timed, "audit.timed", false, "under faults p99 must be at most 20 ms, or twice that before")
	flag.Parse()
	os.Exit(m.Run())
}
