package faults

import (
	"errors"
	"math/rand/v2"
	"slices"
	"syscall"

	"adshard/internal/node/control/etcdtest"
	"adshard/internal/node/control/inetcd"
)

func etcdNames() []string { return names("etcd", 3) }

// newEtcd starts etcd with a member on each of three hosts.
func (g *grid) newEtcd() *etcdtest.Cluster {
	g.t.Helper()
	var hosts []etcdtest.Host
	var addresses []string
	for _, name := range etcdNames() {
		address, err := g.network.host(name)
		if err != nil {
			g.t.Fatal(err)
		}
		hosts = append(hosts, etcdtest.Host{Address: address, Under: g.network.enter(name)})
		addresses = append(addresses, address)
	}
	var own inetcd.TLS // for the members; the balancers use g.control
	if g.security != nil {
		var err error
		if own, g.control, err = g.security.forEtcd(addresses); err != nil {
			g.t.Fatal(err)
		}
	}
	c, err := etcdtest.NewOn(hosts, own.CA, own.Cert, own.Key)
	if err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() {
		if err := c.Remove(); err != nil {
			g.t.Error(err)
		}
	})
	return c
}

// memberNames draws one member of etcd, or two, which are a majority.
func memberNames(dice *rand.Rand) on {
	list := etcdNames()
	dice.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return on(list[:1+dice.IntN(2)])
}

// each calls do for each member that is named.
func (o on) each(do func(i int) error) (err error) {
	for _, name := range o {
		err = errors.Join(err, do(slices.Index(etcdNames(), name)))
	}
	return err
}

// etcdDown kills members of etcd.
type etcdDown struct{ on }

func etcdKilled(dice *rand.Rand, s *schedule) fault {
	if !s.etcd {
		return nil
	}
	return etcdDown{memberNames(dice)}
}

func (f etcdDown) do(g *grid) error {
	return f.each(func(i int) error { g.etcd.Kill(i); return nil })
}
func (f etcdDown) undo(g *grid) error { return f.each(g.etcd.Start) }

// etcdStop sends SIGSTOP to members of etcd.
type etcdStop struct{ on }

func etcdStopped(dice *rand.Rand, s *schedule) fault {
	if !s.etcd {
		return nil
	}
	return etcdStop{memberNames(dice)}
}

func (f etcdStop) do(g *grid) error {
	return f.each(func(i int) error { return g.etcd.Signal(i, syscall.SIGSTOP) })
}

func (f etcdStop) undo(g *grid) error {
	return f.each(func(i int) error { return g.etcd.Signal(i, syscall.SIGCONT) })
}
