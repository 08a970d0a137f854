package admin

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"adshard/internal/node/httpapi"
)

// open are the paths that are served under any host name: they reveal nothing of
// the data and change nothing, and probes call the port by names of their own.
var open = []string{"/livez", "/readyz", "/metrics"}

// guarded refuses what a web page sends through a browser: requests from another
// site, recognised by their Origin, and requests for a name that was made to resolve
// to this address (DNS rebinding), recognised by their Host.
func (c *Config) guarded(next http.Handler) http.Handler {
	cross := http.NewCrossOriginProtection()
	cross.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		httpapi.WriteError(w, httpapi.Forbidden("%s was sent by a page of another site (%s) and is refused",
			r.URL.Path, r.Header.Get("Origin")))
	}))
	inner := cross.Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if slices.Contains(open, r.URL.Path) {
			next.ServeHTTP(w, r)
			return
		}
		if host := hostOf(r.Host); !c.answersTo(host, r) {
			w.Header().Set("Connection", "close") // a body that nobody reads may never end
			httpapi.WriteError(w, httpapi.WrongHost("this admin port does not answer to the name %q; use its address, or add the name to admin_hosts", host))
			return
		}
		inner.ServeHTTP(w, r)
	})
}

// answersTo reports whether host is a name of this port: loopback, the address
// that the connection came to, or one of those configured.
func (c *Config) answersTo(host string, r *http.Request) bool {
	if host == "localhost" || slices.ContainsFunc(c.Hosts, func(h string) bool { return hostOf(h) == host }) {
		return true
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return ip.IsLoopback() || ok && local.AddrPort().Addr().Unmap() == ip.Unmap()
}

// hostOf returns the name in HOST, HOST:PORT or [HOST]:PORT, in lower case.
func hostOf(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = strings.Trim(address, "[]")
	}
	return strings.TrimSuffix(strings.ToLower(host), ".")
}
