package certs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/url"
	"regexp"
	"slices"
	"time"

	"adshard/fault"
	"adshard/internal/node/access"
)

const (
	// AuthorityLife is how long certificates of CAs are valid.
	AuthorityLife = 365 * 24 * time.Hour
	// Life is how long other certificates are valid.
	Life = 30 * 24 * time.Hour
	// early is how long before its creation a certificate begins to be valid, so that peers whose clocks are an hour
	// behind accept it.
	early = 2 * time.Hour
)

// Pair is a certificate with its key, in PEM.
type Pair struct{ Cert, Key []byte }

// NewAuthority makes the CA of a cluster.
func NewAuthority(cluster string, life time.Duration) (Pair, error) {
	if err := access.CheckName("cluster", cluster); err != nil {
		return Pair{}, err
	}
	t := &x509.Certificate{
		Subject: pkix.Name{CommonName: "adshard CA of " + cluster, Organization: []string{cluster}}, IsCA: true, BasicConstraintsValid: true,
		MaxPathLenZero: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign, NotAfter: time.Now().Add(life),
	}
	pair, err := sign(t, nil, nil)
	if err != nil {
		return Pair{}, err
	}
	ca, err := OpenAuthority(pair)
	if err == nil {
		_, err = ca.Issue(access.Reader, "none", nil, life) // fails if the cluster's name cannot be in a certificate
	}
	if err != nil {
		return Pair{}, err
	}
	return pair, nil
}

// Authority is a CA.
type Authority struct {
	pair    tls.Certificate
	cluster string
}

// OpenAuthority reads a CA. Its certificate is the one in p.Cert that belongs to p.Key. That is the first one,
// unless a new certificate was written without its key.
func OpenAuthority(p Pair) (*Authority, error) {
	pair, err := tls.X509KeyPair(p.Cert, p.Key)
	for rest := p.Cert; err != nil; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if later, e := tls.X509KeyPair(rest, p.Key); e == nil {
			pair, err = later, nil
		}
	}
	if err != nil {
		return nil, fault.Newf(fault.Invalid, op, "ca.crt and ca.key: %w; if they do not belong together, copy both from one place", err)
	}
	if c := pair.Leaf; !c.IsCA || len(c.Subject.Organization) != 1 {
		return nil, fault.Newf(fault.Invalid, op, "%s is no CA of a cluster", c.Subject)
	}
	return &Authority{pair, pair.Leaf.Subject.Organization[0]}, nil
}

// Cluster returns the name of the CA's cluster.
func (a *Authority) Cluster() string { return a.cluster }

// Until returns the time at which the CA's certificate expires.
func (a *Authority) Until() time.Time { return a.pair.Leaf.NotAfter }

// Issue makes a certificate of the CA's cluster for a role and a name. `hosts` are the names and addresses that
// clients such as curl check. The certificate does not outlive the CA. Errors: fault.Invalid for values that cannot
// be in a certificate, and for a CA that has expired.
func (a *Authority) Issue(role access.Role, name string, hosts []string, life time.Duration) (Pair, error) {
	who := access.Identity{Cluster: a.cluster, Role: role, Name: name}
	if err := who.Check(); err != nil {
		return Pair{}, err
	}
	if until := a.Until(); !time.Now().Before(until) {
		return Pair{}, fault.Newf(fault.Invalid, op, "the CA has expired, on %s: `adshard cert rotate ca` makes the next one", until.Format(time.DateOnly))
	}
	t := &x509.Certificate{
		Subject: pkix.Name{CommonName: who.String(), Organization: []string{a.cluster}}, URIs: []*url.URL{who.URI()}, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, NotAfter: time.Now().Add(life),
	}
	if slices.Contains(access.Processes(), role) {
		t.ExtKeyUsage = append(t.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
	}
	if t.NotAfter.After(a.Until()) {
		t.NotAfter = a.Until()
	}
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			t.IPAddresses = append(t.IPAddresses, ip)
			continue
		}
		if !hostName.MatchString(h) {
			return Pair{}, fault.Field(op, "host", "%q is neither an IP address nor the name of a host; write it without scheme or port", h)
		}
		t.DNSNames = append(t.DNSNames, h)
	}
	return sign(t, a.pair.Leaf, a.pair.PrivateKey)
}

// hostName matches the host names that a certificate may have.
var hostName = regexp.MustCompile(`^(\*\.)?[A-Za-z0-9_-]{1,63}(\.[A-Za-z0-9_-]{1,63})*$`)

// sign makes a key and a certificate for it, signed by `parent` with the key `by`. If `parent` is nil, the new key
// signs its own certificate.
func sign(t, parent *x509.Certificate, by any) (Pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Pair{}, fault.New(fault.Internal, op, err)
	}
	if parent == nil {
		parent, by = t, key
	}
	if t.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127)); err != nil {
		return Pair{}, fault.New(fault.Internal, op, err)
	}
	t.NotBefore = time.Now().Add(-early)
	der, err := x509.CreateCertificate(rand.Reader, t, parent, key.Public(), by)
	if err != nil {
		return Pair{}, fault.New(fault.Internal, op, err)
	}
	if _, err := x509.ParseCertificate(der); err != nil {
		return Pair{}, fault.Newf(fault.Invalid, op, "such a certificate could not be read: %w", err)
	}
	text, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return Pair{}, fault.New(fault.Internal, op, err)
	}
	return Pair{
		Cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		Key:  pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: text}),
	}, nil
}
