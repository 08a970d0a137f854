package inetcd

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"adshard/fault"
	"adshard/internal/node/control"
	"adshard/internal/wait"
)

// term implements control.Term.
type term struct {
	*control.Fence
	store *Store
	own   leaderRecord

	saving sync.Mutex // held while a value is being saved

	mu      sync.Mutex
	lease   clientv3.LeaseID // guarded by mu
	claimed string           // the leader's key as last written; guarded by mu
	until   time.Time        // when the lease ends by the monotonic clock; guarded by mu

	compaction compaction // used only by KeepAlive
}

// grant gets a lease from etcd.
func (t *term) grant(ctx context.Context) error {
	ctx, cancel := t.store.request(ctx)
	defer cancel()
	seconds := max(1, int64((t.store.times.Lease+time.Second-1)/time.Second))
	reply, err := t.store.client.Grant(ctx, seconds)
	if err != nil {
		return failed("get a lease", err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lease = reply.ID
	return nil
}

// revoke gives the lease back, and leadership with it. If that fails, both end by themselves.
func (t *term) revoke() {
	ctx, cancel := t.store.request(context.Background())
	defer cancel()
	_, _ = t.store.client.Revoke(ctx, t.held())
}

func (t *term) held() clientv3.LeaseID {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.lease
}

// extend makes the lease valid from the start of a renewal.
func (t *term) extend(began time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.until = began.Add(t.store.times.Validity())
}

// Valid implements control.Term.
func (t *term) Valid() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return time.Now().Before(t.until)
}

// leading returns the condition that this term still leads.
func (t *term) leading() clientv3.Cmp {
	t.mu.Lock()
	defer t.mu.Unlock()
	return clientv3.Compare(clientv3.Value(t.store.leaderKey()), "=", t.claimed)
}

// claim records the present value of the leader's key.
func (t *term) claim(leadership string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.claimed = leadership
}

// write makes changes if this term still leads. If the leader's key is among them, write records its new
// value.
func (t *term) write(ctx context.Context, op string, changes ...clientv3.Op) error {
	reply, err := t.store.commit(ctx, op, []clientv3.Cmp{t.leading()}, changes...)
	if err != nil {
		return err
	}
	if !reply.Succeeded {
		return t.replaced(ctx)
	}
	for _, c := range changes {
		if c.IsPut() && string(c.KeyBytes()) == t.store.leaderKey() {
			t.claim(string(c.ValueBytes()))
		}
	}
	return nil
}

// replaced returns the reason why this term no longer leads.
func (t *term) replaced(ctx context.Context) error {
	if t.Fence != nil {
		if err := t.Check(ctx); err != nil {
			return err
		}
	}
	by, err := t.store.Leader(ctx)
	if err != nil {
		return err
	}
	return (&control.Replaced{Epoch: t.own.Epoch, By: by}).Fault()
}

// KeepAlive implements control.Term.
func (t *term) KeepAlive(ctx context.Context, note func(error)) error {
	for {
		err := t.renew(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		note(err)
		if fault.Is(err, fault.Conflict) || fault.Is(err, fault.Stale) {
			t.extend(time.Time{})
			return err
		}
		pause := t.store.times.Renew
		if err != nil {
			pause = t.store.times.Poll
		} else {
			t.compaction.step(ctx, t.store)
		}
		if err := wait.Sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// renew renews the lease, and then checks whether a later term has begun in the database: etcd may have been
// replaced or restored. The lease does not end if the database cannot be read or hangs, since no other term
// can begin without the database.
func (t *term) renew(ctx context.Context) error {
	began := time.Now()
	call, cancel := t.store.request(ctx)
	defer cancel()
	_, err := t.store.client.KeepAliveOnce(call, t.held())
	switch {
	case errors.Is(err, rpctypes.ErrLeaseNotFound):
		err = t.reacquire(ctx)
	case err != nil:
		err = failed("renew the lease", err)
	default:
		err = t.write(ctx, "check leadership", clientv3.OpGet(t.store.leaderKey()))
	}
	if err != nil {
		return err
	}
	t.extend(began)
	check, end := context.WithTimeout(ctx, t.store.times.Renew) // or the next renewal would be late
	defer end()
	return t.Check(check)
}

// reacquire takes leadership again for the same term with a new lease, unless another balancer has led
// since.
func (t *term) reacquire(ctx context.Context) error {
	old := t.held()
	if err := t.grant(ctx); err != nil {
		return err
	}
	s := t.store
	reply, err := s.commit(ctx, "get leadership back", []clientv3.Cmp{
		clientv3.Compare(clientv3.CreateRevision(s.leaderKey()), "=", 0),
		clientv3.Compare(clientv3.Value(s.lastKey()), "=", t.own.encode()),
	}, clientv3.OpPut(s.leaderKey(), t.own.encode(), clientv3.WithLease(t.held())))
	if err == nil && !reply.Succeeded {
		err = t.replaced(ctx)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil {
		t.lease = old // the next attempt gets another lease
		return err
	}
	t.claimed = t.own.encode()
	return nil
}

// Resign implements control.Term.
func (t *term) Resign(ctx context.Context) error {
	t.extend(time.Time{})
	err := t.write(ctx, "resign", clientv3.OpDelete(t.store.leaderKey()))
	if err == nil {
		t.revoke()
	}
	return err
}

// compaction compacts etcd's history, which old versions of large values would otherwise fill.
type compaction struct {
	at       time.Time // when the last step was made
	revision int64     // the revision at that time
}

// compactEvery is the value of Store.compact outside of tests.
const compactEvery = time.Minute

// step compacts, from time to time, the history up to the previous step. The next step makes up for a
// failure.
func (c *compaction) step(ctx context.Context, s *Store) {
	if !c.at.IsZero() && time.Since(c.at) < s.compact {
		return
	}
	ctx, cancel := s.request(ctx)
	defer cancel()
	if c.revision > 0 {
		_, _ = s.client.Compact(ctx, c.revision) // after a failure, the next success compacts this part, too
	}
	if reply, err := s.client.Get(ctx, s.lastKey(), clientv3.WithCountOnly()); err == nil {
		c.at, c.revision = time.Now(), reply.Header.Revision
	}
}
