package sim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"adshard/fault"
)

// Scenario is a cluster and what is done to it. Its text has one line for the cluster and
// one for each event, for example
//
//	seed=7 slaves=3 distributors=2 masters=2 items=40 changes=20 duration=15s
//	1.25s crash s1 for=2s how=empty
//	2s cut m1 to=b for=1s how=drop
//
// Lines that begin with # are comments.
type Scenario struct {
	Seed                          uint64
	Slaves, Distributors, Masters int
	// Replicas is the number of slaves that hold each slice; 0 means 1.
	Replicas int
	// Repeat is how many bytes per second of the same item are sent because it keeps
	// changing; beyond that, its changes are deferred. If it is 0, no changes are deferred.
	Repeat int
	// Items is the number of items at the start, and Changes the number of changes per
	// second.
	Items, Changes int
	// Duration is how long events happen. After that, everything must come to rest.
	Duration time.Duration
	Events   []Event
}

// Event is something that is done to the cluster at a time. verbs.go says which fields each
// verb uses.
type Event struct {
	At      time.Duration
	Do      string
	Who, To string
	For     time.Duration
	N       uint64
	How     string
}

// String returns the event as a line of text.
func (e Event) String() string {
	b := fmt.Sprintf("%v %s", e.At, e.Do)
	if e.Who != "" {
		b += " " + e.Who
	}
	if e.To != "" {
		b += " to=" + e.To
	}
	if e.For != 0 {
		b += fmt.Sprintf(" for=%v", e.For)
	}
	if e.N != 0 {
		b += fmt.Sprintf(" n=%d", e.N)
	}
	if e.How != "" {
		b += " how=" + e.How
	}
	return b
}

// String returns the scenario as a text that ParseScenario reads.
func (s Scenario) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed=%d slaves=%d distributors=%d masters=%d items=%d changes=%d duration=%v\n",
		s.Seed, s.Slaves, s.Distributors, s.Masters, s.Items, s.Changes, s.Duration)
	text := b.String()
	if s.Repeat > 0 {
		text = fmt.Sprintf("repeat=%d %s", s.Repeat, text)
	}
	if s.Replicas > 0 {
		text = fmt.Sprintf("replicas=%d %s", s.Replicas, text)
	}
	b.Reset()
	b.WriteString(text)
	for _, e := range s.Events {
		fmt.Fprintln(&b, e)
	}
	return b.String()
}

// ParseScenario reads the text of a scenario. Errors: fault.Invalid, with the line.
func ParseScenario(text string) (Scenario, error) {
	var s Scenario
	head := true
	for i, line := range strings.Split(text, "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		err := error(nil)
		if head {
			err = s.parseHead(words)
		} else {
			var e Event
			e, err = parseEvent(words)
			s.Events = append(s.Events, e)
		}
		if err != nil {
			return s, fault.Newf(fault.Invalid, "sim: read scenario", "line %d: %w", i+1, err)
		}
		head = false
	}
	slices.SortStableFunc(s.Events, func(a, b Event) int { return int(a.At - b.At) })
	return s, nil
}

func (s *Scenario) parseHead(words []string) error {
	for _, w := range words {
		name, value, _ := strings.Cut(w, "=")
		n, err := strconv.ParseUint(value, 10, 64)
		switch name {
		case "seed":
			s.Seed = n
		case "slaves":
			s.Slaves = int(n)
		case "distributors":
			s.Distributors = int(n)
		case "replicas":
			s.Replicas = int(n)
		case "repeat":
			s.Repeat = int(n)
		case "masters":
			s.Masters = int(n)
		case "items":
			s.Items = int(n)
		case "changes":
			s.Changes = int(n)
		case "duration":
			s.Duration, err = time.ParseDuration(value)
		default:
			err = fmt.Errorf("%q is not known", name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func parseEvent(words []string) (e Event, err error) {
	if len(words) < 2 {
		return e, fmt.Errorf("an event is a time and a verb")
	}
	if e.At, err = time.ParseDuration(words[0]); err != nil {
		return e, err
	}
	e.Do = words[1]
	for _, w := range words[2:] {
		name, value, pair := strings.Cut(w, "=")
		switch {
		case !pair:
			e.Who = w
		case name == "to":
			e.To = value
		case name == "for":
			e.For, err = time.ParseDuration(value)
		case name == "n":
			e.N, err = strconv.ParseUint(value, 10, 64)
		case name == "how":
			e.How = value
		default:
			err = fmt.Errorf("%q is not known", name)
		}
		if err != nil {
			return e, err
		}
	}
	return e, nil
}
