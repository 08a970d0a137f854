package admin

import (
	"net/http"

	"adshard/internal/node/access"
	"adshard/internal/node/httpapi"
)

// guarded refuses requests that a page of another site makes a browser send (httpapi.Names).
func (c *Config) guarded(next http.Handler) http.Handler {
	table := access.NewTable()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !table[access.HTTPCall(access.AdminPort, method(r), r.URL.Path)].AnySite {
			if err := c.Hosts.Check(r); err != nil {
				w.Header().Set("Connection", "close") // an unread body may never end
				httpapi.WriteError(w, err)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}
