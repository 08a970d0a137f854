package balancer

import (
	"sync"

	"google.golang.org/grpc"

	"adshard/internal/node/access"
	"adshard/internal/node/certs"
	"adshard/internal/node/wire"
)

// slaveConns keeps a connection to each slave that was called: with TLS, making one takes
// several times as long as the certificate of a small slice, of which there are thousands.
type slaveConns struct {
	own *certs.Credentials

	mu   sync.Mutex
	open map[string]slaveConn // by the slave's name
}

type slaveConn struct {
	address string
	*grpc.ClientConn
}

// to returns the connection to a slave at its address. The caller does not close it.
func (p *slaveConns) to(name, address string) (*grpc.ClientConn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before, ok := p.open[name]
	if ok && before.address == address {
		return before.ClientConn, nil
	}
	conn, err := wire.Dial(address, p.own.To(name, access.Slave)...)
	if err != nil {
		return nil, err
	}
	if ok {
		_ = before.Close()
	}
	p.open[name] = slaveConn{address, conn}
	return conn, nil
}

// drop closes a connection that is broken: the next call makes another one at once.
func (p *slaveConns) drop(name string, broken *grpc.ClientConn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open[name].ClientConn == broken {
		_ = broken.Close()
		delete(p.open, name)
	}
}

// close closes all connections.
func (p *slaveConns) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.open {
		_ = c.Close()
	}
	clear(p.open)
}
