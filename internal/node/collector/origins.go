package collector

import (
	"net/http"
	"slices"

	"adshard/internal/node/httpapi"
)

// origins are the origins whose pages may read the answers of the port for events (CORS in the Fetch standard). They do not
// decide which events count: tokens do, and a browser sends text/plain for a page of any origin.
type origins []string

// around adds the CORS headers for the origins, and answers preflight requests.
func (o origins) around(next http.Handler) http.Handler {
	if len(o) == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		listed := o.allow(w.Header(), r.Header.Get("Origin"))
		if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
			next.ServeHTTP(w, r)
			return
		}
		if r.ContentLength != 0 {
			w.Header().Set("Connection", "close") // an unread body may never end
		}
		if !listed {
			httpapi.WriteError(w, httpapi.Forbidden("pages of %.100q may not send events: add the origin to event_origins of the collector", r.Header.Get("Origin")))
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
}

// allow sets the headers that say what pages of an origin may do, and reports whether the origin is listed.
func (o origins) allow(h http.Header, origin string) bool {
	h.Add("Vary", "Origin")
	if !slices.Contains(o, origin) {
		return false
	}
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Allow-Credentials", "true") // sendBeacon insists on sending cookies, which are not read here
	h.Set("Access-Control-Allow-Methods", http.MethodPost)
	h.Set("Access-Control-Allow-Headers", "Content-Type")
	h.Set("Access-Control-Max-Age", "7200") // browsers keep it no longer
	return true
}
