package inetcd_test

import (
	"context"
	"testing"
	"time"

	"adshard/fault"
	"adshard/internal/node/access"
	"adshard/internal/node/certs/certtest"
	"adshard/internal/node/control/etcdtest"
	"adshard/internal/node/control/inetcd"
	"adshard/internal/node/nodetest"
)

// files issues a certificate and returns its files.
func files(ca *certtest.Cluster, role access.Role, name string, life time.Duration) inetcd.TLS {
	pair := ca.Pair(role, name, life)
	return inetcd.TLS{CA: ca.CA(), Cert: ca.Write(name+".crt", pair.Cert), Key: ca.Write(name+".key", pair.Key)}
}

// TestTLS: an etcd that requires client certificates can be used with one. A balancer with a wrong
// certificate does not lead.
func TestTLS(t *testing.T) {
	t.Parallel()
	ca, other := certtest.New(t), certtest.New(t)
	server := files(ca, access.Slave, "etcd", time.Hour)
	etcd, err := etcdtest.NewTLS(1, server.CA, server.Cert, server.Key)
	must(t, err)
	t.Cleanup(func() { must(t, etcd.Remove()) })
	db := nodetest.NewDatabase(t).DB
	own := files(ca, access.Balancer, "b", time.Hour)
	foreign := files(other, access.Balancer, "b", time.Hour)
	for name, c := range map[string]struct {
		files inetcd.TLS
		leads bool
	}{
		"own":                         {own, true},
		"no TLS":                      {inetcd.TLS{}, false},
		"no certificate":              {inetcd.TLS{CA: own.CA}, false},
		"expired":                     {files(ca, access.Balancer, "late", -time.Minute), false},
		"a certificate of another CA": {inetcd.TLS{CA: own.CA, Cert: foreign.Cert, Key: foreign.Key}, false},
		"another server expected":     {files(other, access.Balancer, "c", time.Hour), false},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := inetcd.Open(etcd.URL(), c.files, db, "c", short, unmarked)
			if err != nil {
				if c.leads || !fault.Is(err, fault.Invalid) {
					t.Fatal(err)
				}
				return
			}
			defer s.Close()
			patience := patience
			if !c.leads {
				patience = time.Second
			}
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			if _, err := s.TakeOver(ctx, a); (err == nil) != c.leads {
				t.Errorf("led: %v", err)
			}
		})
	}
}
