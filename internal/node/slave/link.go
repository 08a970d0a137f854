package slave

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"adshard/fault"
	"adshard/internal/node/certs"
	"adshard/internal/node/config"
	"adshard/internal/node/remote"
	"adshard/loadproxy"
	"adshard/schema/pb"
	"adshard/search/words"
)

// link is a slave's connection to the balancer that leads its cluster. The balancer's address may come
// later: a slave that is configured without one waits until it is adopted, and then saves the address
// in a file of its directory.
type link struct {
	configured bool
	file       string
	log        *slog.Logger
	own        *certs.Credentials
	languages  words.Languages

	mu      sync.Mutex
	address string         // one or several, separated by commas; "" if there is none yet; guarded by mu
	client  *remote.Leader // for address; nil if there is none yet; guarded by mu
}

// adoptedFile holds the address of the balancer that has adopted the slave.
const adoptedFile = "adopted-by"

func newLink(cfg *Config, log *slog.Logger) (*link, error) {
	l := &link{configured: cfg.Balancer != "", file: filepath.Join(cfg.Dir, adoptedFile), log: log, own: cfg.Credentials, languages: cfg.Languages}
	address := cfg.Balancer
	if address == "" {
		text, err := os.ReadFile(l.file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, config.DirError(cfg.Dir, err)
		}
		address = strings.TrimSpace(string(text))
	}
	if address == "" {
		return l, nil
	}
	return l, l.dial(address)
}

// dial connects to another address. The caller holds mu, unless l is not shared yet.
func (l *link) dial(address string) error {
	client, err := remote.Find(address, l.languages, l.own, l.log)
	if err != nil {
		return err
	}
	if l.client != nil {
		_ = l.client.Close()
	}
	l.address, l.client = address, client
	return nil
}

// adopt makes the balancer at an address the slave's balancer. Errors: fault.Conflict if the
// configuration names another one.
func (l *link) adopt(address string) error {
	var k config.Check
	if k.Addresses("balancer", address, true); k.Err() != nil {
		return k.Err()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.address == address:
		return nil
	case l.configured:
		return fault.Newf(fault.Conflict, "slave: adopt",
			"this slave is configured for the balancer at %s, not %s; change its configuration", l.address, address)
	}
	if err := ownFile(l.file).WriteBytes([]byte(address + "\n")); err != nil {
		return config.DirError(filepath.Dir(l.file), err)
	}
	return l.dial(address)
}

func (l *link) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.client != nil {
		_ = l.client.Close()
	}
}

// now returns the balancer's client. Errors: fault.Unavailable if there is no balancer yet.
func (l *link) now() (*remote.Leader, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.client == nil {
		return nil, fault.Newf(fault.Unavailable, "slave",
			"started without a balancer, it waits to be adopted: `adshard slaves add` with this slave's address")
	}
	return l.client, nil
}

// Register implements loadproxy.Balancer.
func (l *link) Register(ctx context.Context, r *pb.RegisterRequest) (*pb.RegisterResponse, error) {
	c, err := l.now()
	if err != nil {
		return nil, err
	}
	return c.Register(ctx, r)
}

// Report implements loadproxy.Balancer.
func (l *link) Report(ctx context.Context, r *pb.ReportRequest) (*pb.ReportResponse, error) {
	c, err := l.now()
	if err != nil {
		return nil, err
	}
	return c.Report(ctx, r)
}

// WatchDocuments implements documents.Source.
func (l *link) WatchDocuments(ctx context.Context, r *pb.WatchDocumentsRequest) (*pb.WatchDocumentsResponse, error) {
	c, err := l.now()
	if err != nil {
		return nil, err
	}
	return c.WatchDocuments(ctx, r)
}

// DocumentPart implements documents.Source.
func (l *link) DocumentPart(ctx context.Context, r *pb.DocumentPartRequest) (*pb.DocumentPartResponse, error) {
	c, err := l.now()
	if err != nil {
		return nil, err
	}
	return c.DocumentPart(ctx, r)
}

// Distributor implements loadproxy.Balancer.
func (l *link) Distributor(address string) (loadproxy.Distributor, func() error, error) {
	c, err := l.now()
	if err != nil {
		return nil, nil, err
	}
	return c.Distributor(address)
}
