package fault_test

import (
	"errors"
	"fmt"
	"testing"

	"adshard/fault"
)

func TestClasses(t *testing.T) {
	classes := fault.Classes[int]{Kinds: map[fault.Kind]int{fault.NotFound: 404, fault.Invalid: 400}, Other: 500}
	own := fault.Classify(fault.Newf(fault.Invalid, "op", "too large"), 413)
	for name, c := range map[string]struct {
		err  error
		want int
	}{
		"by kind":              {fault.Newf(fault.NotFound, "op", "x"), 404},
		"by a wrapped kind":    {fmt.Errorf("y: %w", fault.Newf(fault.Invalid, "op", "x")), 400},
		"of no kind":           {errors.New("x"), 500},
		"of a kind not listed": {fault.Newf(fault.Stale, "op", "x"), 500},
		"of its own":           {own, 413},
		"of its own, wrapped":  {fmt.Errorf("y: %w", own), 413},
		"of another type":      {fault.Classify(fault.Newf(fault.Invalid, "op", "x"), "text"), 400},
	} {
		if got := classes.Of(c.err); got != c.want {
			t.Errorf("%s: %d, not %d", name, got, c.want)
		}
	}
	if !fault.Is(own, fault.Invalid) || own.Error() != "op: too large" {
		t.Errorf("the error is now %v of kind %v", own, fault.KindOf(own))
	}
}

func TestCause(t *testing.T) {
	for text, err := range map[string]error{
		"full":        fault.Newf(fault.NoSpace, "rocks: write", "full"),
		"apply: full": fault.New(fault.NoSpace, "slave", fmt.Errorf("apply: %w", errors.New("full"))),
		"plain":       errors.New("plain"),
	} {
		if got := fault.Cause(err); got != text {
			t.Errorf("%q, not %q", got, text)
		}
	}
	inner := fault.Newf(fault.NoSpace, "rocks: write", "full")
	if got := fault.Cause(fault.New(fault.NoSpace, "slave: apply", inner)); got != "full" {
		t.Errorf("of two operations: %q", got)
	}
}
