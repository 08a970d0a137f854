package admin

import (
	"net/http"
	"strings"

	"adshard/fault"
	"adshard/internal/node/access"
	"adshard/internal/node/console"
	"adshard/internal/node/httpapi"
)

// gated refuses requests that the sender may not make, before their bodies are read. It passes
// requests for unknown calls on to `next`, which refuses them. Only the console reads the cookies
// of those who have signed in on its pages, so no site can make a browser send a call in their
// name.
func (c *Config) gated(routes *http.ServeMux, next http.Handler, pages *console.Console) http.Handler {
	if c.Gate == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h, pattern := routes.Handler(r)
		if of, ok := h.(calls); pattern == "" || ok && of[method(r)] == nil {
			next.ServeHTTP(w, r)
			return
		}
		isPage := pages != nil && strings.HasPrefix(pattern, console.Root)
		if isPage {
			if who, ok := c.Memory.Sessions.Caller(r, c.Gate); ok {
				r = r.WithContext(access.With(r.Context(), who))
			}
		}
		ctx, err := c.Gate.Check(r, access.HTTPCall(access.AdminPort, method(r), pattern))
		if err == nil {
			next.ServeHTTP(w, r.WithContext(ctx))
			return
		}
		if r.ContentLength != 0 {
			w.Header().Set("Connection", "close") // an unread body may never end
		}
		if isPage {
			pages.Refuse(w, r.WithContext(ctx), !access.CallerOf(ctx).Known(), fault.Cause(err))
			return
		}
		if !access.CallerOf(ctx).Known() {
			w.Header().Set("WWW-Authenticate", `Bearer realm="adshard"`)
			err = httpapi.Unauthenticated("%w", err)
		}
		httpapi.WriteError(w, err)
	})
}
