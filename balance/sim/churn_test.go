package sim_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"adshard/balance/sim"
)

// TestASliceThatChangesAllTheTime: a slice moves even if each of its items changes forty
// times a second from the beginning to the end.
func TestASliceThatChangesAllTheTime(t *testing.T) {
	s, err := sim.ParseScenario("seed=5 slaves=2 distributors=1 masters=1 items=6 duration=12s\n" +
		"0s churn n=9 for=12s\n2s drain s1\n")
	if err != nil {
		t.Fatal(err)
	}
	var moved []string
	_, err = sim.Play(s, func(format string, args ...any) {
		line := fmt.Sprintf(format, args...)
		if at, ok := args[0].(time.Duration); ok && at < s.Duration && strings.Contains(line, "is served by") {
			moved = append(moved, line)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(moved) == 0 {
		t.Error("no slice moved while its items changed")
	}
}
