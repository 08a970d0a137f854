package e2e

import (
	"os"
	"slices"
	"sync"
	"testing"
	"time"
)

// cause makes alerts fire in a cluster that was well before.
type cause struct {
	cluster string // one of alarmedClusters
	what    string
	alerts  []string // fire, and do not before
	long    bool     // only with ALERTS_LONG in the environment
	bring   func(r *alarmed)
	end     func(r *alarmed) // nil: it lasts
	ends    []string         // of alerts, those that are seen to end with their cause
}

// alarmedClusters start the clusters in which causes are brought about, one after the other in
// the order of the tables.
var alarmedClusters = map[string]func(*testing.T) *alarmed{
	"shards": startShards, "replicas": startReplicas, "balancing": startBalancing, "events": startEvents,
}

// withoutCause are the alerts whose cause cannot be brought about from outside.
var withoutCause = map[string]string{
	"AdshardPanics":      "a defect is needed",
	"AdshardStoreStalls": "a disk is needed that is slower than a slave writes, for minutes",
}

// TestAlertsFire brings about a cause of each alert in a real cluster that a real Prometheus
// watches, with the rules' times cut: the alert fires then, and not before, and where it is told
// to, it ends with its cause.
func TestAlertsFire(t *testing.T) {
	causes := slices.Concat(causesOfShards, causesOfReplicas, causesOfBalancing, causesOfEvents)
	everyAlertHasACause(t, causes)
	long := os.Getenv("ALERTS_LONG") != ""
	var running sync.WaitGroup
	for name, start := range alarmedClusters { // all at once, however few processors there are: they wait most of the time
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

// everyAlertHasACause holds the tables against the rules.
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

// suffers brings about a cause and waits for what it makes fire.
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
