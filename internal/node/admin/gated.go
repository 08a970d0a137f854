package admin

import (
	"net/http"
	"strings"

	"adshard/fault"
	"adshard/internal/node/access"
	"adshard/internal/node/console"
	"adshard/internal/node/httpapi"
)

// gated refuses requests that their sender may not make, before their bodies are read. What
// the port does not have is not refused here, but by next. Only the console knows who has
// signed in on its pages, so no browser can be made to send a call.
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
