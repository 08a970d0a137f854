// Package inetcd keeps the control state of a cluster in etcd. Leadership is a key that is deleted
// when its leader's lease ends; values lie below the same prefix, large ones in chunks.
//
// The backend database is still the fence: a term begins with an epoch above those in etcd and in the
// database, and the epoch is first written into the database. Thus an etcd restored from a snapshot
// gives out no epoch twice, and no leader that it once had may compact the log.
//
// The etcd must serve this cluster only: the leader compacts the history of all its keys.
package inetcd

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"adshard/backend"
	"adshard/fault"
	"adshard/internal/node/control"
	"adshard/internal/wait"
)

// Scheme is the scheme of the URLs of control states in etcd.
const Scheme = "etcd"

// Store implements control.Store.
type Store struct {
	client *clientv3.Client
	prefix string // of all keys of the cluster
	db     backend.Store
	key    string // the cluster's key in the database
	times  control.Times
	mark   func(context.Context) error
	// compact is the least time for which etcd's history is kept, and the time between two
	// compactions.
	compact time.Duration
}

// Open returns the control state at a URL, etcd://HOST:PORT[,HOST:PORT…][/PREFIX], of the cluster with
// a key in a database. `mark` is called at the beginning of each term, before its epoch is in the
// database, so that no balancer continues in the database without etcd. If `mark` fails, the term does
// not begin. Open connects in the background; call Close when done. Errors: fault.Invalid.
func Open(address string, files TLS, db backend.Store, key string, times control.Times, mark func(context.Context) error) (*Store, error) {
	hosts, prefix, err := Parse(address)
	if err != nil {
		return nil, err
	}
	secure, err := files.config()
	if err != nil {
		return nil, err
	}
	client, err := clientv3.New(clientv3.Config{Endpoints: endpoints(hosts, secure != nil), TLS: secure, Logger: zap.NewNop(),
		DialKeepAliveTime: times.Lease, DialKeepAliveTimeout: times.Lease, PermitWithoutStream: true})
	if err != nil {
		return nil, fault.New(fault.Invalid, "open etcd", err)
	}
	return &Store{client: client, prefix: path.Join(prefix, key), db: db, key: key, times: times, mark: mark, compact: compactEvery}, nil
}

// endpoints returns the URLs for a list of HOST:PORT.
func endpoints(hosts []string, secure bool) (list []string) {
	scheme := "http://"
	if secure {
		scheme = "https://"
	}
	for _, host := range hosts {
		list = append(list, scheme+host)
	}
	return list
}

// Parse splits a URL into its members (HOST:PORT) and its prefix. Errors: fault.Invalid.
func Parse(address string) (members []string, prefix string, err error) {
	invalid := fault.Field("open etcd", "control", "this is not etcd://HOST:PORT,HOST:PORT/PREFIX, without user or password") // the text may have a password
	rest, ok := strings.CutPrefix(address, Scheme+"://")
	if !ok {
		return nil, "", invalid
	}
	hosts, prefix, _ := strings.Cut(rest, "/")
	for _, host := range strings.Split(hosts, ",") {
		u, err := url.Parse("http://" + host)
		if err != nil || u.Host != host || u.Port() == "" || u.Hostname() == "" {
			return nil, "", invalid
		}
		members = append(members, host)
	}
	return members, "/" + strings.Trim(prefix, "/"), nil
}

// Close closes the connections.
func (s *Store) Close() error { return s.client.Close() }

// Keys below the prefix: the present leader, the last leader, values, and chunks of values.
func (s *Store) leaderKey() string { return s.prefix + "/leader" }
func (s *Store) lastKey() string   { return s.prefix + "/last" }

// leaderRecord names a leader: the present one or the last one.
type leaderRecord struct {
	Term     string `json:"term"`  // random, different for each term
	Epoch    uint64 `json:"epoch"` // 0 if the term is about to begin
	Address  string `json:"address"`
	Admin    string `json:"admin,omitempty"`
	Resigned bool   `json:"resigned,omitempty"` // only in the record of the last leader
}

func (r leaderRecord) encode() string {
	text, _ := json.Marshal(r) // a struct of texts and numbers can always be encoded
	return string(text)
}

func (r leaderRecord) leader() control.Leader {
	return control.Leader{Candidate: control.Candidate{Address: r.Address, Admin: r.Admin}, Epoch: r.Epoch}
}

// decode reads a record. An unreadable record has no owner.
func decode(text []byte) (r leaderRecord) {
	if json.Unmarshal(text, &r) != nil {
		return leaderRecord{}
	}
	return r
}

// request bounds the time of a request to etcd, which the client would otherwise repeat for ever.
func (s *Store) request(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, s.times.Lease)
}

// failed turns an error of etcd into a fault of the matching kind.
func failed(op string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled):
		return fault.New(fault.Cancelled, "etcd: "+op, err)
	case errors.Is(err, rpctypes.ErrNoSpace):
		return fault.New(fault.NoSpace, "etcd: "+op, err)
	}
	return fault.New(fault.Unavailable, "etcd: "+op, err)
}

// get returns a key with its value and revision, or nil if there is no such key.
func (s *Store) get(ctx context.Context, key string) (*mvccpb.KeyValue, error) {
	ctx, cancel := s.request(ctx)
	defer cancel()
	reply, err := s.client.Get(ctx, key)
	if err != nil || len(reply.Kvs) == 0 {
		return nil, failed("get "+key, err)
	}
	return reply.Kvs[0], nil
}

// commit makes changes if all conditions hold.
func (s *Store) commit(ctx context.Context, op string, conditions []clientv3.Cmp, changes ...clientv3.Op) (*clientv3.TxnResponse, error) {
	ctx, cancel := s.request(ctx)
	defer cancel()
	reply, err := s.client.Txn(ctx).If(conditions...).Then(changes...).Commit()
	return reply, failed(op, err)
}

// Leader implements control.Store.
func (s *Store) Leader(ctx context.Context) (control.Leader, error) {
	last, err := s.get(ctx, s.lastKey())
	if err != nil || last == nil {
		return control.Leader{}, err
	}
	return decode(last.Value).leader(), nil
}

// Campaign implements control.Store.
func (s *Store) Campaign(ctx context.Context, me control.Candidate) (control.Term, error) {
	for {
		now, err := s.get(ctx, s.leaderKey())
		if err == nil && (now == nil || decode(now.Value).Address == me.Address) {
			var t control.Term
			if t, err = s.begin(ctx, me, now); err == nil {
				return t, nil
			}
		}
		if err != nil && !retried(err) {
			return nil, err
		}
		if err := wait.Sleep(ctx, s.times.Poll); err != nil {
			return nil, err
		}
	}
}

// retried reports whether the next attempt may succeed after an error.
func retried(err error) bool {
	switch fault.KindOf(err) {
	case fault.Conflict, fault.Unavailable, fault.Locked, fault.NoSpace, fault.Deadline, fault.Cancelled:
		return true
	}
	return false
}

// TakeOver implements control.Store.
func (s *Store) TakeOver(ctx context.Context, me control.Candidate) (control.Term, error) {
	now, err := s.get(ctx, s.leaderKey())
	if err != nil {
		return nil, err
	}
	return s.begin(ctx, me, now)
}

// unchanged returns the condition that the leader's key is still as it was read. Its value is what
// distinguishes terms, since revisions repeat when etcd is emptied or restored.
func unchanged(key string, was *mvccpb.KeyValue) clientv3.Cmp {
	if was == nil {
		return clientv3.Compare(clientv3.CreateRevision(key), "=", 0)
	}
	return clientv3.Compare(clientv3.Value(key), "=", string(was.Value))
}

// begin begins a term if the leader's key is still as it was read. It first claims the key. Then it
// marks the database and raises the epoch there, after which the former leader may not compact the log
// and what it saves is not used. Last, it writes the new leader into etcd.
func (s *Store) begin(ctx context.Context, me control.Candidate, seen *mvccpb.KeyValue) (control.Term, error) {
	began := time.Now()
	t := &term{store: s, own: leaderRecord{Term: rand.Text(), Address: me.Address, Admin: me.Admin}}
	if err := t.grant(ctx); err != nil {
		return nil, err
	}
	reply, err := s.commit(ctx, "claim leadership", []clientv3.Cmp{unchanged(s.leaderKey(), seen)},
		clientv3.OpPut(s.leaderKey(), t.own.encode(), clientv3.WithLease(t.lease)), clientv3.OpGet(s.lastKey()))
	if err == nil && !reply.Succeeded {
		err = fault.Newf(fault.Conflict, "etcd: claim leadership", "another balancer was faster")
	}
	if err != nil {
		t.revoke()
		return nil, err
	}
	var last leaderRecord
	if kvs := reply.Responses[1].GetResponseRange().Kvs; len(kvs) > 0 {
		last = decode(kvs[0].Value)
	}
	t.claim(t.own.encode())
	if err = s.mark(ctx); err == nil {
		t.Fence, err = control.NewFence(ctx, s.db, s.key, me.Address, last.Epoch)
	}
	if err == nil {
		t.own.Epoch = t.Epoch()
		err = t.write(ctx, "begin a term", clientv3.OpPut(s.leaderKey(), t.own.encode(), clientv3.WithLease(t.lease)),
			clientv3.OpPut(s.lastKey(), t.own.encode()))
	}
	if err != nil {
		t.revoke()
		return nil, fmt.Errorf("begin a term: %w", err)
	}
	t.extend(began)
	return t, nil
}
