package events

import (
	"context"
	"errors"
	"testing"
	"time"

	"adshard/fault"
)

// namedControl is a control state with one value that can be away.
type namedControl struct {
	value []byte
	away  bool
}

func (c *namedControl) LoadControl(context.Context, string) ([]byte, error) {
	if c.away {
		return nil, errors.New("away")
	}
	return c.value, nil
}

func (c *namedControl) SaveControlIf(_ context.Context, _ string, value []byte, _ string, _ []byte) error {
	if c.away {
		return errors.New("away")
	}
	c.value = value
	return nil
}

// TestAConflictIsRemembered tests that a collector that found at its start that another database of
// events counts does not count while the control state is away. It counts once its own database is
// named.
func TestAConflictIsRemembered(t *testing.T) {
	now := time.Unix(1000, 0)
	control := &namedControl{value: []byte("another")}
	n := &Named{Control: control, Own: "own", Now: func() time.Time { return now }}
	if err := n.Claim(t.Context()); !fault.Is(err, fault.Conflict) {
		t.Fatal(err)
	}
	control.away = true
	if err := n.Confirm(t.Context()); !fault.Is(err, fault.Conflict) {
		t.Errorf("it counts while the control state is away: %v", err)
	}
	control.away, control.value = false, []byte("own")
	now = now.Add(time.Minute)
	if err := n.Confirm(t.Context()); err != nil {
		t.Errorf("its database is named: %v", err)
	}
}
