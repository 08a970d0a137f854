package up

import (
	"strings"
	"testing"

	"adshard/internal/node/balancer"
	"adshard/internal/node/collector"
	"adshard/internal/node/distributor"
	"adshard/internal/node/home"
)

// TestDatabasesOnOtherMachinesAreVerified: databases on other machines are verified by each program that opens one, and
// parts of a cluster go without where it does.
func TestDatabasesOnOtherMachinesAreVerified(t *testing.T) {
	const plain, local = "postgres://db1/ads", "sqlite:ads.db"
	b, o := balancer.DefaultConfig(), collector.DefaultConfig()
	d, u := distributor.DefaultConfig(), DefaultConfig()
	for name, of := range map[string]struct {
		db, events *string
		insecure   *bool
		validate   func() error
	}{
		"balancer":    {&b.DB, &b.Events, &b.DBInsecure, b.Validate},
		"collector":   {&o.DB, &o.Events, &o.DBInsecure, o.Validate},
		"distributor": {&d.DB, nil, &d.DBInsecure, d.Validate},
		"up":          {&u.DB, nil, &u.DBInsecure, u.Validate},
	} {
		for i, url := range []*string{of.db, of.events} {
			if url == nil {
				continue
			}
			*of.db, *url, *of.insecure = local, plain, false
			if err := of.validate(); err == nil || !strings.Contains(err.Error(), []string{"db", "events"}[i]+": db1") {
				t.Errorf("%s: %v", name, err)
			}
			if *of.insecure = true; of.validate() != nil {
				t.Errorf("%s, insecure: %v", name, of.validate())
			}
			*url = local + "-events"
		}
	}
	u.DB, u.Collector = plain, "127.0.0.1:1"
	h := new(home.Dir)
	partOf, countsFor, leads := u.distributor(0, h, "127.0.0.1:2"), u.collector(h), u.balancer(h)
	if !partOf.DBInsecure || !countsFor.DBInsecure || !leads.DBInsecure {
		t.Error("parts of an insecure cluster refuse its database")
	}
}
