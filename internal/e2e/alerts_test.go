package e2e

import (
	"os"
	"slices"
	"sync"
	"testing"
	"time"
)

// cause makes alerts fire in a cluster that was healthy before.
type cause struct {
	cluster string // one of alarmedClusters
	what    string
	alerts  []string // these fire, but not before the cause
	long    bool     // needs ALERTS_LONG in the environment
	bring   func(r *alarmed)
	end     func(r *alarmed) // nil if the cause lasts
	ends    []string         // alerts that must end with the cause
}

// alarmedClusters maps names to functions that start the clusters. In each cluster the causes are brought about one
// after the other, in the order of the tables.
var alarmedClusters = map[string]func(*testing.T) *alarmed{
	"shards": startShards, "replicas": startReplicas, "balancing": startBalancing, "events": startEvents,
}

// withoutCause lists the alerts whose cause cannot be brought about from outside, each with the reason.
var withoutCause = map[string]string{
	"AdshardPanics":         "a defect is needed",
	"AdshardClocksDiffer":   "a machine with another clock is needed",
	"AdshardSettingsDiffer": "a second balancer is needed, which no cluster of these has",
	"AdshardStoreStalls":    "a disk is needed that is slower than a slave writes, for minutes",
}

// TestAlertsFire brings about a cause of each alert in a real cluster, which a real Prometheus watches with shortened
// times in the rules. The alert fires after the cause and not before. An alert listed in ends also ends with its
// cause.
func TestAlertsFire(t *testing.T) {
	causes := slices.Concat(causesOfShards, causesOfReplicas, causesOfBalancing, causesOfEvents)
	everyAlertHasACause(t, causes)
	long := os.Getenv("ALERTS_LONG") != ""
	var running sync.WaitGroup
	for name, start := range alarmedClusters { // all at once, however few processors there are: they mostly wait
		running.Go(func() {
			t.Run(name, func(t *testing.T) {
				r := start(t)
				for _, c := range causes {
					if c.cluster == name && (long || !c.long) {
						r.suffers(c)
					}
				}
			})
		})
	}
	running.Wait()
}

// everyAlertHasACause compares the tables with the rules.
func everyAlertHasACause(t *testing.T, causes []cause) {
	t.Helper()
	caused := make(map[string]bool)
	for _, c := range causes {
		for _, a := range c.alerts {
			caused[a] = true
		}
	}
	for _, rule := range alertRules(t) {
		why, left := withoutCause[rule.Alert]
		if left == caused[rule.Alert] {
			t.Errorf("%s: of causes there is %v, and the reason why there is none is %q", rule.Alert, caused[rule.Alert], why)
		}
		delete(caused, rule.Alert)
	}
	for a := range caused {
		t.Errorf("a cause makes %s fire, which is not in the rules", a)
	}
}

// suffers brings about a cause and waits for the alerts that it makes fire.
func (r *alarmed) suffers(c cause) {
	r.Helper()
	for _, a := range c.alerts {
		r.awaits(a, false, "before "+c.what)
	}
	began := time.Now()
	c.bring(r)
	brought := time.Since(began)
	for _, a := range c.alerts {
		r.awaits(a, true, c.what)
	}
	fired := time.Since(began)
	if c.end != nil {
		c.end(r)
	}
	for _, a := range c.ends {
		r.awaits(a, false, "after "+c.what)
	}
	r.Logf("%s: %v fire %.1f s after it began, %.1f s after it was there; all is over after %.1f s", c.what, c.alerts, fired.Seconds(),
		(fired - brought).Seconds(), time.Since(began).Seconds())
}
