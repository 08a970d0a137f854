package inetcd_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"adshard/backend"
	"adshard/internal/node/control"
	"adshard/internal/node/control/controltest"
	"adshard/internal/node/control/etcdtest"
	"adshard/internal/node/control/inetcd"
	"adshard/internal/node/nodetest"
)

// short has lease times for tests. Leases of etcd are at least 2 s long.
var short = control.Times{Lease: 2 * time.Second, Renew: 50 * time.Millisecond, Poll: 20 * time.Millisecond}

func start(t *testing.T, members int) *etcdtest.Cluster {
	t.Helper()
	c, err := etcdtest.New(members)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Remove(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// unmarked stands for marking the database, and does nothing.
func unmarked(context.Context) error { return nil }

func open(t *testing.T, url string, db backend.Store, key string) *inetcd.Store {
	t.Helper()
	s, err := inetcd.Open(url, inetcd.TLS{}, db, key, short, unmarked)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestConformance(t *testing.T) {
	t.Parallel()
	url, db := start(t, 1).URL(), nodetest.NewDatabase(t).DB
	var n atomic.Int32
	controltest.Run(t, func(t *testing.T) controltest.Place {
		key := fmt.Sprint("cluster-", n.Add(1))
		shared := open(t, url, db, key)
		return controltest.Place{Open: func() control.Store { return shared }}
	})
}
