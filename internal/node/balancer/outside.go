package balancer

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"

	"adshard/backend"
	"adshard/balance"
	"adshard/fault"
	"adshard/internal/node/certs"
	"adshard/internal/node/control"
	"adshard/internal/node/control/indatabase"
	"adshard/internal/node/control/inetcd"
	"adshard/internal/node/health"
	"adshard/internal/node/identity"
	"adshard/schema/pb"
)

// openControl opens the control state that the configuration names, for a cluster with this order of
// keys. The caller calls the returned function to close it.
func (c *Config) openControl(db backend.Store, order balance.Order) (control.Store, func() error, error) {
	if c.Control == "" {
		return indatabase.New(db, c.StateKey, control.DefaultTimes()), func() error { return nil }, nil
	}
	if key := c.ControlTLS.Key; key != "" {
		if _, err := certs.ReadSecret(key); err != nil {
			return nil, nil, fmt.Errorf("control_tls.key: %w", err)
		}
	}
	key := c.StateKey + identity.OrderKey
	s, err := inetcd.Open(c.Control, c.ControlTLS, db, c.StateKey, control.DefaultTimes(), func(ctx context.Context) error {
		return noteOutside(ctx, db, key, order)
	})
	if err != nil {
		return nil, nil, err
	}
	return s, s.Close, nil
}

// noteOutside saves in the database, for good, that the control state of a cluster is elsewhere,
// together with the cluster's order of keys.
func noteOutside(ctx context.Context, db backend.Store, key string, order balance.Order) error {
	err := db.SaveControlIf(ctx, key, []byte{byte(order)}, key, nil)
	if fault.Is(err, fault.Conflict) {
		return nil // it was saved before
	}
	return err
}

// checkPlace returns fault.Conflict if the control state was moved to etcd although the configuration
// keeps it in the database. A term in etcd is noted in the database before its epoch begins. So if this
// balancer has raised the epoch and then finds no note, the state is in the database.
func (c *Config) checkPlace(ctx context.Context, db backend.Store) error {
	if c.Control != "" {
		return nil
	}
	outside, err := db.LoadControl(ctx, c.StateKey+identity.OrderKey)
	if err != nil || len(outside) == 0 {
		return err
	}
	return fault.Newf(fault.Conflict, "balancer", "the control state of this cluster is in etcd: set control, or use another state_key for a new plan")
}

// ofKey is the key of the note that says to which database a model outside of it belongs.
const ofKey = "/of"

// belonging names a database and the latest moment of its history that a model kept elsewhere has seen.
type belonging struct {
	Database string `json:"database"`
	Clock    uint64 `json:"clock"`
	Mark     uint64 `json:"mark"`
}

// settle checks that a model kept outside of the database belongs to it, and returns the model, or nil
// if there is none. The first time, it takes the model out of the database. If the database has another
// history than the model has seen, settle cancels the moves in flight, since their data is of the old
// history, and begins a new timeline. Errors: fault.Conflict if the model belongs to another database.
func (b *Balancer) settle(ctx context.Context, state []byte) ([]byte, error) {
	if state == nil {
		if err := b.takeOut(ctx); err != nil {
			return nil, err
		}
		var err error
		if state, err = b.leadership.model(ctx); err != nil {
			return nil, err
		}
	}
	text, err := b.leadership.Load(ctx, ofKey)
	if err != nil {
		return nil, err
	}
	var of belonging
	if len(text) > 0 && json.Unmarshal(text, &of) != nil {
		return nil, fault.Newf(fault.Corrupt, "balancer", "%q does not name a database", text)
	}
	if of.Database != "" && of.Database != b.data.Database {
		return nil, fault.Newf(fault.Conflict, "balancer",
			"the control state at %s is of database %s, and db names %s; correct one of them, or give this cluster a prefix of its own",
			b.cfg.Control, of.Database, b.data.Database)
	}
	h, _, err := identity.Locate(ctx, b.db, &pb.Position{Clock: of.Clock, Mark: of.Mark})
	if err != nil {
		return nil, err
	}
	if h == identity.Other && state != nil {
		if state, err = b.restart(ctx, state); err != nil {
			return nil, err
		}
	}
	return state, b.noteDatabase(ctx)
}

// takeOut copies the state of a cluster out of the database, if it is there.
func (b *Balancer) takeOut(ctx context.Context) error {
	for _, key := range []string{timelineKey, strategyKey, pauseKey, historyKey, identity.ModelKey} { // the model comes last, because the move is complete once it is there
		value, err := b.db.LoadControl(ctx, b.cfg.StateKey+key)
		if err != nil {
			return err
		}
		if len(value) == 0 {
			continue
		}
		if err := b.leadership.Save(ctx, key, value); err != nil {
			return fmt.Errorf("move the control state out of the database: %w", err)
		}
	}
	return nil
}

// restart takes a model of another history of the database, drops its moves in flight and saves it in a
// new timeline.
func (b *Balancer) restart(ctx context.Context, state []byte) ([]byte, error) {
	s, err := balance.DecodeState(state)
	if err != nil {
		return nil, err
	}
	if s, err = s.WithoutMoves(); err != nil {
		return nil, err
	}
	b.log.Warn("the database was restored; moves in flight are cancelled, and a new timeline begins")
	if err := b.leadership.Save(ctx, timelineKey, []byte(rand.Text())); err != nil {
		return nil, err
	}
	state = s.Encode()
	return state, b.leadership.saveModel(ctx, state)
}

// noteDatabase saves to which database the model belongs, and the latest moment of its history that the
// model has seen.
func (b *Balancer) noteDatabase(ctx context.Context) error {
	now, err := b.db.Newest(ctx)
	if err != nil {
		return err
	}
	text, err := json.Marshal(belonging{b.data.Database, now.Clock, now.Mark})
	if err != nil {
		return err
	}
	return b.leadership.Save(ctx, ofKey, text)
}

// tracker returns the tracker of the failures of a balancer.
func (c *Config) tracker() *health.Tracker {
	if c.Control != "" {
		return health.NewApart()
	}
	return health.New()
}
