package certs

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"golang.org/x/time/rate"
	"google.golang.org/grpc"

	"adshard/fault"
	"adshard/internal/node/access"
	"adshard/internal/shell"
)

// Credentials holds a running process's certificate, its way to authenticate peers, and the table
// of who may make which call. A nil *Credentials means neither TLS nor tokens. Make it with Open.
type Credentials struct {
	mode   string
	own    *watched[material]      // nil if TLS is off
	tokens *watched[access.Tokens] // nil if there are no tokens
	table  access.Table
	counts counts
	last   lately         // what was refused
	rarely rate.Sometimes // for refusals
	// recheck is the longest time between two checks of a connection.
	recheck time.Duration
	log     *slog.Logger
}

// Open reads the certificate files of a process with a role and a name; the name "" means any. It
// returns nil if neither TLS nor tokens are set. Errors: fault.Invalid, with what to change.
func (s *Settings) Open(role access.Role, name string, log *slog.Logger) (*Credentials, error) {
	if s.TLS.Mode == Off && s.Tokens == "" {
		return nil, nil
	}
	c := &Credentials{mode: s.TLS.Mode, table: access.NewTable(), rarely: rate.Sometimes{First: 10, Interval: time.Second}, recheck: recheckEvery, log: log}
	var err error
	if s.TLS.Mode != Off {
		files := s.TLS
		read := func() (*material, error) { return readFor(files, role, name) }
		if c.own, err = newWatched(log, read, files.Cert, files.Key, files.CA); err != nil {
			return nil, fmt.Errorf("config: tls.%w", err)
		}
	}
	if s.Tokens != "" {
		if c.tokens, err = newWatched(log, func() (*access.Tokens, error) { return readTokens(s.Tokens) }, s.Tokens); err != nil {
			return nil, fmt.Errorf("config: tokens: %w", err)
		}
	}
	return c, nil
}

// readFor reads the files of a process, and returns an error if their certificate has another role
// or, unless `name` is "", another name.
func readFor(files TLS, role access.Role, name string) (*material, error) {
	m, err := readOwn(files)
	if err == nil && (m.self.Role != role || name != "" && m.self.Name != name) {
		err = fault.Newf(fault.Invalid, "", "cert: %s is the certificate of the %s, this is the %s: `adshard cert issue %s %s`",
			files.Cert, m.self, access.Identity{Role: role, Name: name}, role, shell.Word(cmp.Or(name, "NAME")))
	}
	return m, err
}

func readTokens(file string) (*access.Tokens, error) {
	text, err := readFile(file, true)
	if err != nil {
		return nil, err
	}
	t, err := access.ParseTokens(text)
	if err != nil {
		return nil, fault.Newf(fault.Invalid, op, "%s: %w", file, err)
	}
	return &t, nil
}

// ServerOptions returns the options of a gRPC server for other parts of the cluster.
func (c *Credentials) ServerOptions() []grpc.ServerOption {
	if c == nil || c.own == nil {
		return nil
	}
	g := c.guard(c.mode != Required)
	refused := g.Refused
	g.Refused = func(who access.Identity, from, call string, err error) {
		c.last.note(who.Name, from, err)
		refused(who, from, call, err)
	}
	return append(g.ServerOptions(), grpc.Creds(&serverCreds{c.peers()}))
}

// peers returns the server side of a port for other parts of the cluster.
func (c *Credentials) peers() *side {
	return &side{own: c.own, mode: c.mode, clients: needed, counts: &c.counts, lately: &c.last, protocol: "h2", recheck: c.recheck, log: c.log}
}

// guard returns the guard that checks calls against the table.
func (c *Credentials) guard(open bool) access.Guard {
	return access.Guard{Table: c.table, Open: open, Refused: func(who access.Identity, from, call string, err error) {
		c.counts.refused.Add(1)
		c.rarely.Do(func() { c.log.Warn("a call was refused", "by", who.String(), "from", from, "call", call, "err", err) })
	}}
}

// Gate returns the gate that checks the requests of the admin port, or nil if there is none.
func (c *Credentials) Gate() *access.Gate {
	if c == nil {
		return nil
	}
	g := &access.Gate{Guard: c.guard(c.mode != Required && c.tokens == nil)}
	if c.tokens != nil {
		g.Tokens = func() access.Tokens { return *c.tokens.get() }
	}
	return g
}

// To returns the options to dial a process with one of these roles and this name; the name "" means
// any.
func (c *Credentials) To(name string, roles ...access.Role) []grpc.DialOption {
	if c == nil || c.own == nil {
		return nil
	}
	return []grpc.DialOption{grpc.WithTransportCredentials(&clientCreds{c, func(who access.Identity) error {
		if !slices.Contains(roles, who.Role) || name != "" && who.Name != name {
			return fault.Newf(fault.Forbidden, op, "there is the %s, not the %s", who, access.Identity{Role: roles[0], Name: name})
		}
		return nil
	}})}
}

// Run watches the files until ctx is done: it rereads those that have changed, and warns of certificates that expire soon.
func (c *Credentials) Run(ctx context.Context) {
	if c == nil || c.own == nil {
		return
	}
	(&warner{own: c.own, advice: "`adshard cert rotate` makes the next one", log: c.log}).run(ctx)
}
