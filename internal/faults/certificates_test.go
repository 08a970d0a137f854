package faults

import (
	"crypto/x509"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"adshard/internal/node/access"
)

// expired starts a part with a certificate that is not renewed in time: its connections end, and the other parts
// refuse it. The certificate is renewed late, and the part continues without a restart.
type expired struct {
	on
	pid *int // the process that ran with the certificate, or 0 if none did
}

// shortLife is the lifetime of the certificate, which is usually enough to start with it.
const shortLife = 5 * time.Second

func certificateExpired(dice *rand.Rand, s *schedule) fault {
	if !s.tls {
		return nil
	}
	return expired{on{pick(dice, allNames())}, new(int)}
}

// touches prevents this fault during a rotation of all certificates, in which two CAs would sign.
func (f expired) touches() []string { return append(f.on, "certificates") }

// do tries again with a longer lifetime if the part was not up before its certificate expired, for instance while its
// database was away.
func (f expired) do(g *grid) error {
	for life := shortLife; life < patience; life *= 2 {
		if up, err := f.outlives(g, life); up || err != nil {
			return err
		}
	}
	return errors.New("it was not up before any of its certificates expired")
}

// outlives starts the part with a certificate that expires soon, and returns after it has expired. If the part was
// not up in that time, up is false.
func (f expired) outlives(g *grid, life time.Duration) (up bool, err error) {
	p := g.part(f.on[0])
	g.down(p)
	ends := time.Now().Add(life)
	if _, err := g.security.issue(access.Role(p.Command), p.name, life); err != nil {
		return false, err
	}
	g.up(p)
	for g.security.meet(g.address(p.name, adminPort)) != nil {
		if time.Now().After(ends) {
			g.down(p) // otherwise it would be started again and again
			return false, nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	*f.pid = p.Pid()
	time.Sleep(time.Until(ends.Add(time.Second))) // certificates have whole seconds
	return true, nil
}

func (f expired) undo(g *grid) error {
	p := g.part(f.on[0])
	address := g.address(p.name, adminPort)
	met := g.security.meet(address)
	if _, err := g.security.issue(access.Role(p.Command), p.name, long); err != nil {
		return err
	}
	if *f.pid == 0 {
		g.up(p)
		return nil
	}
	if why := (x509.CertificateInvalidError{}); !errors.As(met, &why) || why.Reason != x509.Expired {
		return fmt.Errorf("its certificate has expired, and who meets it gets %w", met)
	}
	if err := g.eventually("the new certificate is used", func() bool { return g.security.meet(address) == nil }); err != nil {
		return err
	}
	if p.Pid() != *f.pid {
		return errors.New("it was started again meanwhile")
	}
	return nil
}

// rotated gives all parts certificates of another CA while they run, in the order of docs/operations/secure.md. No
// connection is refused.
type rotated struct{}

func certificatesRotated(_ *rand.Rand, s *schedule) fault {
	if !s.tls {
		return nil
	}
	return rotated{}
}

func (rotated) String() string    { return "by another CA" }
func (rotated) touches() []string { return []string{"certificates"} }

// lookTime is longer than a process needs to notice that its files have changed.
const lookTime = 1500 * time.Millisecond

func (rotated) do(g *grid) error {
	s := g.security
	next := 1 - s.signs
	if err := s.trust(s.signs, next); err != nil {
		return err
	}
	time.Sleep(lookTime)
	s.signs = next
	if err := s.operate(); err != nil {
		return err
	}
	for _, p := range g.all() {
		if _, err := s.issue(access.Role(p.Command), p.name, long); err != nil {
			return err
		}
	}
	return nil
}

// undo checks that a certificate of the previous CA is now refused.
func (rotated) undo(g *grid) error {
	time.Sleep(lookTime)
	return g.security.trust(g.security.signs)
}
