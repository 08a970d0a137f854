package access

import (
	"context"
	"net/http"
	"strings"

	"adshard/fault"
)

// Gate is a Guard of an HTTP port, where a token is as good as a certificate.
type Gate struct {
	Guard
	// Tokens returns the tokens that are valid now, or nil if there are none.
	Tokens func() Tokens
}

// Check returns the context of a request that may be served, from which CallerOf gets the sender.
// Errors: fault.Forbidden.
func (g *Gate) Check(r *http.Request, call string) (context.Context, error) {
	who, err := g.caller(r)
	if err == nil && (who.Known() || !g.Open) {
		err = g.Table.Check(who, call, nil)
	}
	if err != nil && g.Refused != nil {
		g.Refused(who, r.RemoteAddr, call, err)
	}
	return With(r.Context(), who), err
}

// May reports whether the sender of a request may make another call. ctx is the one that Check
// returned.
func (g *Gate) May(ctx context.Context, call string) bool {
	who := CallerOf(ctx)
	return g.Open && !who.Known() || g.Table.Check(who, call, nil) == nil
}

// caller returns the sender of a request, named by its token or, if the request has no token, by
// the certificate of its connection. It returns an error for a wrong token.
func (g *Gate) caller(r *http.Request) (Identity, error) {
	header := r.Header.Get("Authorization")
	if header == "" {
		return CallerOf(r.Context()), nil
	}
	kind, token, _ := strings.Cut(header, " ")
	if strings.EqualFold(kind, "Bearer") && g.Tokens != nil {
		if who, ok := g.Tokens().Find(strings.TrimSpace(token)); ok {
			return who, nil
		}
	}
	return Identity{}, fault.Newf(fault.Forbidden, op, "the Authorization of the request has no token of this port")
}
