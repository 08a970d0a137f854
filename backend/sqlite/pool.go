package sqlite

import (
	"context"
	"sync"
	"time"

	"adshard/fault"
)

const (
	// maxIdle is the most idle connections for reading that are kept open.
	maxIdle = 8
	// reopenEvery is how often a lost file is looked for.
	reopenEvery = 100 * time.Millisecond
)

// pool holds the idle connections to a database. It hands them out only while the path still names the file that they
// have open, and reopens the file when the same database is back.
type pool struct {
	path    string
	options Options

	mu     sync.Mutex
	file   *file
	writer *conn
	idle   []*conn
	tried  time.Time // when the file was last looked for
	closed bool
}

// newPool opens a database that has been prepared.
func newPool(path string, o Options) (*pool, error) {
	f, c, err := openFile(path, o)
	if err != nil {
		return nil, err
	}
	return &pool{path: path, options: o, file: f, idle: []*conn{c}}, nil
}

// take returns a connection for reading, or the connection for writing, which only the holder of the turn may take.
// It returns fault.Unavailable if the database is closed or its file is not the one that was opened.
func (p *pool) take(ctx context.Context, write bool) (*conn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, fault.Newf(fault.Unavailable, "sqlite: take", "database %s is closed", p.path)
	}
	if err := p.ready(ctx); err != nil {
		return nil, err
	}
	if write {
		if c := p.writer; c != nil {
			p.writer = nil
			return c, nil
		}
		return p.connect(p.writing)
	}
	if n := len(p.idle); n > 0 {
		c := p.idle[n-1]
		p.idle = p.idle[:n-1]
		return c, nil
	}
	return p.connect(func() (*conn, error) { return connect(p.path, p.options.BusyTimeout, readerCache) })
}

// writing opens a connection for writing.
func (p *pool) writing() (*conn, error) {
	c, err := connect(p.path, 0 /* begin does the waiting */, walMode, writerCache, checkpointPages, limitLog)
	if err != nil {
		return nil, err
	}
	if err := c.freshRandom(); err != nil {
		c.Conn.Close()
		return nil, err
	}
	return c, nil
}

// connect opens a connection to the file of the pool.
func (p *pool) connect(open func() (*conn, error)) (*conn, error) {
	c, err := open()
	if err != nil {
		if lost := p.file.examine(); lost != nil {
			return nil, lost
		}
		return nil, err
	}
	c.of = p.file
	p.file.conns++
	if err := p.file.examine(); err != nil {
		p.close(c)
		return nil, err
	}
	return c, nil
}

// give returns a connection to the pool.
func (p *pool) give(c *conn, write bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed, c.of != p.file, !write && len(p.idle) >= maxIdle:
		return p.close(c)
	case write:
		p.writer = c
	default:
		p.idle = append(p.idle, c)
	}
	return nil
}

// discard closes a connection that cannot be reused.
func (p *pool) discard(c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.close(c)
}

// check returns an error unless a connection still has the database's present file open.
func (p *pool) check(c *conn) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.of != p.file {
		return c.of.lost("was replaced while it was being used", "retry with the present file")
	}
	return p.file.examine()
}

// ready returns an error unless the file is still the database's. It tries to reopen a lost file.
func (p *pool) ready(ctx context.Context) error {
	why := p.file.examine()
	if why == nil {
		return nil
	}
	p.drop()
	if p.file.conns > 0 || p.file.overwrote != nil || time.Since(p.tried) < reopenEvery {
		return why
	}
	p.tried = time.Now()
	return p.reopen(ctx, why)
}

// reopen opens the file again if the path names the same database. Otherwise it returns an error; `why` says how the
// file was lost.
func (p *pool) reopen(ctx context.Context, why error) error {
	if checkPath(p.path, Options{}) != nil {
		return why
	}
	if err := p.file.leftovers(); err != nil {
		return err
	}
	id, err := storedID(p.path, p.options)
	switch {
	case err != nil:
		return fault.Newf(fault.Unavailable, "sqlite: open file", "%w; the present file cannot be used: %w", why, err)
	case id != p.file.id:
		return p.file.lost("is another database now, with the id "+id+" and not "+p.file.id,
			"restore the previous one or a backup of it, or restart this program")
	}
	o := p.options
	o.Create = false
	err = prepare(ctx, p.path, o)
	var f *file
	var c *conn
	if err == nil {
		f, c, err = openFile(p.path, o)
	}
	switch {
	case err != nil:
		return fault.Newf(fault.Unavailable, "sqlite: open file", "%w; it cannot be opened again: %w", why, err)
	case f.id != id: // the file was replaced in between
		c.Conn.Close()
		return why
	}
	p.file, p.idle = f, []*conn{c}
	return nil
}

// drop closes unused connections.
func (p *pool) drop() (first error) {
	list := p.idle
	if p.writer != nil {
		list = append(list, p.writer)
	}
	p.writer, p.idle = nil, nil
	for _, c := range list {
		if err := p.close(c); first == nil {
			first = err
		}
	}
	return first
}

// close closes a connection. A connection to an overwritten file is left open, since closing the last one would copy
// the write-ahead log into the file.
func (p *pool) close(c *conn) error {
	if c.of.overwrote != nil {
		return nil
	}
	c.of.conns--
	return c.Conn.Close()
}

// end closes the pool. Connections that are in use are closed when they are returned.
func (p *pool) end() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	_ = p.file.examine() // so that close knows whether the file was overwritten
	return p.drop()
}
