package admin

import (
	"net/http"

	"adshard/internal/node/access"
	"adshard/internal/node/httpapi"
)

// gated refuses requests that their sender may not make, before their bodies are read. What
// the port does not have is not refused here, but by next.
func (c *Config) gated(routes *http.ServeMux, next http.Handler) http.Handler {
	if c.Gate == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, pattern := routes.Handler(r)
		if pattern == "" {
			next.ServeHTTP(w, r)
			return
		}
		method := r.Method
		if method == http.MethodHead {
			method = http.MethodGet
		}
		ctx, err := c.Gate.Check(r, access.HTTPCall(access.AdminPort, method, pattern))
		if err == nil {
			next.ServeHTTP(w, r.WithContext(ctx))
			return
		}
		if r.ContentLength != 0 {
			w.Header().Set("Connection", "close") // a body that nobody reads may never end
		}
		if !access.CallerOf(ctx).Known() {
			w.Header().Set("WWW-Authenticate", `Bearer realm="adshard"`)
			err = httpapi.Unauthenticated("%w", err)
		}
		httpapi.WriteError(w, err)
	})
}
